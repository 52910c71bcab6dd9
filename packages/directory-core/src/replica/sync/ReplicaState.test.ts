import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { DirectoryUnavailableError } from '../../directory/errors';
import { ReplicaState, suspensionFor } from './ReplicaState';

let state: ReplicaState;

beforeEach(() => {
  state = new ReplicaState({
    maxStalenessMs: 60_000,
    logger: new RecordingLogger(),
  });
});

it('is starting until it is confirmed, and stale when it is too old', () => {
  expect(state.status).toEqual({ kind: 'starting' });
  expect(state.isServing).toBe(false);
  state.confirm(performance.now() - 60_001);
  expect(state.status).toMatchObject({ kind: 'stale' });
  expect(state.isServing).toBe(false);
  state.confirm(performance.now());
  expect(state.status).toMatchObject({ kind: 'serving' });
  expect(state.isServing).toBe(true);
  state.confirm(performance.now() - 60_001);
  expect(state.isServing).toBe(true);
});

it('is suspended in the same turn until it is confirmed', () => {
  state.confirm(performance.now());
  state.suspend('credentials', 'refused');
  expect(state.isServing).toBe(false);
  expect(state.status).toEqual({
    kind: 'suspended',
    reason: 'credentials',
    message: 'refused',
  });
  state.confirm(performance.now());
  expect(state.isServing).toBe(true);
});

it.each([
  ['refused', 'credentials'],
  ['accessCheck', 'accessCheck'],
  ['quarantine', 'quarantine'],
  ['unreachable', undefined],
  ['response', undefined],
] as const)('maps an error with the reason %s to %s', (reason, expected) => {
  const error = new DirectoryUnavailableError('failed', { reason });
  expect(suspensionFor(error)).toBe(expected);
  expect(suspensionFor(new Error('failed'))).toBeUndefined();
});

describe('ReplicaState.enter', () => {
  const { signal } = new AbortController();

  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => jest.useRealTimers());

  /** Settles promises without advancing the clock. */
  const settle = () => jest.advanceTimersByTimeAsync(0);

  const failsWith = (reason: string) =>
    expect.objectContaining({ name: 'DirectoryUnavailableError', reason });

  it('admits reads while the replica may be read', async () => {
    state.confirm(performance.now());
    expect(state.isServing).toBe(true);
    await state.enter(signal);
  });

  it('lets 200 reads wait for the first sync and rejects others immediately', async () => {
    const waiting = Array.from({ length: 200 }, () => state.enter(signal));
    await settle();
    await expect(state.enter(signal)).rejects.toEqual(failsWith('starting'));

    state.confirm(performance.now());
    await Promise.all(waiting);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lets a read wait for at most 5 seconds', async () => {
    const results: unknown[] = [];
    state.enter(signal).catch(error => results.push(error));
    await jest.advanceTimersByTimeAsync(4999);
    expect(results).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(results).toEqual([failsWith('starting')]);
  });

  it('rejects waiting reads as soon as reads are suspended', async () => {
    const results: unknown[] = [];
    state.enter(signal).catch(error => results.push(error));
    await settle();
    state.suspend('credentials', 'refused');
    await settle();
    expect(results).toEqual([failsWith('refused')]);
    await expect(state.enter(signal)).rejects.toEqual(failsWith('refused'));
  });

  it('does not wait for a replica that is too old', async () => {
    state.confirm(performance.now() - 60_001);
    await expect(state.enter(signal)).rejects.toEqual(failsWith('stale'));
  });

  it('stops waiting when the caller disconnects', async () => {
    const caller = new AbortController();
    const result = state.enter(caller.signal);
    result.catch(() => {});
    await settle();
    caller.abort();
    await expect(result).rejects.toThrow('aborted');
    expect(jest.getTimerCount()).toBe(0);
    await expect(state.enter(caller.signal)).rejects.toThrow('aborted');
  });
});
