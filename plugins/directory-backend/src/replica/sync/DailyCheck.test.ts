import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DailyCheck } from './DailyCheck';
import type { TableComparison } from './TableComparison';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

describe('DailyCheck', () => {
  let now: number;
  let run: jest.Mock<Promise<unknown>>;
  let check: DailyCheck;

  beforeEach(() => {
    now = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    run = jest.fn(async () => new Map());
    check = new DailyCheck({
      source: { readAllThrottled: () => Promise.reject() },
      comparison: { run } as Partial<TableComparison> as TableComparison,
      logger: new RecordingLogger(),
    });
  });
  afterEach(() => jest.restoreAllMocks());

  /** Returns the number of checks that start after a time. */
  async function startedAfter(ms: number): Promise<number> {
    now += ms;
    run.mockClear();
    check.startIfDue('ldap://one');
    await nextTurn();
    return run.mock.calls.length;
  }

  it('runs once a day', async () => {
    expect(await startedAfter(DAY_MS - 1)).toBe(0);
    expect(await startedAfter(1)).toBe(1);
    expect(await startedAfter(DAY_MS - 1)).toBe(0);
    expect(await startedAfter(1)).toBe(1);
  });

  it.each([
    ['failed', () => Promise.reject(new Error('unreachable'))],
    ['was canceled', async () => undefined],
  ])('repeats a check after five minutes that %s', async (_, result) => {
    run.mockImplementationOnce(result);
    expect(await startedAfter(DAY_MS)).toBe(1);
    expect(await startedAfter(5 * MINUTE_MS - 1)).toBe(0);
    expect(await startedAfter(1)).toBe(1);
    expect(await startedAfter(5 * MINUTE_MS)).toBe(0);
  });
});
