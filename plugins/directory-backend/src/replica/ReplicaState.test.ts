import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import { DirectoryUnavailableError } from '../directory/errors';
import { ReplicaState, suspensionFor } from './ReplicaState';

let logger: RecordingLogger;
let state: ReplicaState;

beforeEach(() => {
  logger = new RecordingLogger();
  state = new ReplicaState({ maxStalenessMs: 60_000, logger });
});

it('is starting until it is proven, and stale when it is too old', () => {
  expect(state.status).toEqual({ kind: 'starting' });
  expect(state.isServing).toBe(false);
  state.prove(performance.now() - 60_001);
  expect(state.status).toMatchObject({ kind: 'stale' });
  expect(state.isServing).toBe(false);
  state.prove(performance.now());
  expect(state.status).toMatchObject({ kind: 'serving' });
  expect(state.isServing).toBe(true);
  state.prove(performance.now() - 60_001);
  expect(state.isServing).toBe(true);
});

it('is suspended in the same turn, whatever its age, until it is proven', () => {
  state.prove(performance.now());
  state.suspend('credentials', 'refused');
  expect(state.isServing).toBe(false);
  expect(state.status).toEqual({
    kind: 'suspended',
    reason: 'credentials',
    message: 'refused',
  });
  state.prove(performance.now());
  expect(state.isServing).toBe(true);
});

it('counts every suspension and logs each reason once', () => {
  state.suspend('accessCheck', 'unreadable');
  state.suspend('accessCheck', 'unreadable');
  state.suspend('quarantine', 'no users');
  expect(state.suspensions).toBe(3);
  state.prove(performance.now());
  state.suspend('accessCheck', 'unreadable');
  expect(logger.lines).toEqual([
    'error Reads are suspended: unreadable',
    'error Reads are suspended: no users',
    'info Reads are resumed',
    'error Reads are suspended: unreadable',
  ]);
});

it.each([
  ['refused', 'credentials'],
  ['accessCheck', 'accessCheck'],
  ['quarantine', 'quarantine'],
  ['unreachable', undefined],
  ['response', undefined],
  ['overloaded', undefined],
] as const)('maps an error with the reason %s to %s', (reason, expected) => {
  const error = new DirectoryUnavailableError('failed', { reason });
  expect(suspensionFor(error)).toBe(expected);
  expect(suspensionFor(new Error('failed'))).toBeUndefined();
});
