import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  type EntryCounts,
  MassDeletionGuard,
} from '@directory-gateway/directory-core';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { ReplicaQuarantine } from './ReplicaQuarantine';

const HOUR_MS = 60 * 60_000;

describe('MassDeletionGuard', () => {
  const database = withDatabase();
  /** A time in the middle of an hour. */
  let now: number;
  let logger: RecordingLogger;

  beforeEach(() => {
    now = Date.UTC(2026, 10, 22, 12, 30);
    jest.spyOn(Date, 'now').mockImplementation(() => now);
    logger = new RecordingLogger();
  });

  afterEach(() => jest.restoreAllMocks());

  const open = async (directoryKey = 'a') =>
    new ReplicaQuarantine({
      database: await openDatabase(database),
      directoryKey,
      logger,
    });

  /** Creates a guard as at the start of a process. */
  const start = async (directoryKey?: string) => {
    const records = await open(directoryKey);
    return new MassDeletionGuard({ records, logger, maxShrinkage: 0.2 });
  };

  /**
   * Checks a sync. By default, the replica then has all entries that were
   * found.
   */
  const check = (
    guard: MassDeletionGuard,
    users: number,
    groups: number,
    replica: EntryCounts = { users, groups },
  ) => guard.check({ users, groups }, replica);

  const rejected = expect.objectContaining({
    name: 'DirectoryUnavailableError',
    reason: 'quarantine',
  });

  it('passes the first sync and keeps its baseline across restarts', async () => {
    await check(await start(), 200, 40);
    const restarted = await start();
    await expect(check(restarted, 159, 40)).rejects.toEqual(rejected);
    expect(restarted.quarantine).toMatchObject({ users: 159, groups: 40 });
    await check(restarted, 160, 40);
    expect(restarted.quarantine).toBeUndefined();
  });

  it.each([
    ['no users of five', 5, 40, 0, 40],
    ['no groups of five', 200, 5, 200, 0],
    ['few users', 200, 40, 160 - 1, 40],
    ['few groups', 200, 40, 200, 32 - 4],
  ])('rejects %s after a restart', async (_what, ...counts) => {
    const [usersBefore, groupsBefore, users, groups] = counts;
    await check(await start(), usersBefore, groupsBefore);
    await expect(check(await start(), users, groups)).rejects.toEqual(rejected);
  });

  it('passes when ten entries or fewer are missing', async () => {
    await check(await start(), 12, 12);
    await expect(check(await start(), 2, 2)).resolves.toBeUndefined();
  });

  it('adds up the deletions of 24 hours', async () => {
    const guard = await start();
    await check(guard, 1000, 100);
    now += HOUR_MS;
    await check(guard, 810, 100);
    for (let hour = 0; hour < 23; hour++) {
      now += HOUR_MS;
      await expect(check(guard, 656, 100)).rejects.toEqual(rejected);
      await check(guard, 810, 100);
    }
    // The first sample is now older than 24 hours.
    now += HOUR_MS;
    await check(guard, 656, 100);
    await expect(check(guard, 600, 100)).rejects.toEqual(rejected);
  });

  it('compares with the last sync regardless of its age', async () => {
    await check(await start(), 1000, 100);
    now += 100 * 24 * HOUR_MS;
    await expect(check(await start(), 700, 100)).rejects.toEqual(rejected);
    await check(await start(), 900, 100);
    const knex = await database.getClient();
    expect(await knex('directory_guard_history')).toHaveLength(1);
  });

  it('does not compare different directories', async () => {
    await check(await start('a'), 1000, 100);
    await expect(check(await start('b'), 10, 1)).resolves.toBeUndefined();
  });

  describe('override', () => {
    const override = async (users: number, groups: number) =>
      (await open()).override({ users, groups, acceptedBy: 'dave' });

    /** Returns a process whose sync found 120 users and 40 groups. */
    const quarantine = async () => {
      await check(await start(), 200, 40);
      const quarantines = await open();
      const guard = new MassDeletionGuard({
        records: quarantines,
        logger,
        maxShrinkage: 0.2,
      });
      await expect(check(guard, 120, 40)).rejects.toEqual(rejected);
      const ended: (() => void | Promise<void>)[] = [];
      const retry = jest.fn();
      quarantines.start(
        { guard, replica: { retry } },
        {
          addStartupHook() {},
          addShutdownHook: hook => ended.push(hook),
        },
      );
      await ended[0]();
      await quarantines.synchronize();
      return { guard, quarantines, retry };
    };

    it('lowers the baseline of all processes', async () => {
      const { guard, quarantines, retry } = await quarantine();
      expect(retry).not.toHaveBeenCalled();
      await override(120, 40);
      await quarantines.synchronize();
      expect(retry).toHaveBeenCalledTimes(1);
      await check(guard, 120, 40);
      await quarantines.synchronize();
      expect(retry).toHaveBeenCalledTimes(1);
      now += HOUR_MS;
      await check(await start(), 100, 40);
      await expect(check(await start(), 90, 40)).rejects.toEqual(rejected);
    });

    it('must have the exact counts of a quarantine', async () => {
      await quarantine();
      for (const [users, groups] of [
        [119, 40],
        [121, 40],
        [120, 39],
      ]) {
        await expect(override(users, groups)).rejects.toThrow(
          'has not rejected a directory',
        );
      }
    });

    it('does not accept further deletions', async () => {
      const { guard } = await quarantine();
      await override(120, 40);
      await expect(check(guard, 119, 40)).rejects.toEqual(rejected);
      await check(guard, 121, 41);
    });

    it('expires after 10 minutes', async () => {
      const { guard } = await quarantine();
      expect((await override(120, 40)).getTime()).toBe(now + 600_000);
      now += 600_000;
      await expect(check(guard, 120, 40)).rejects.toEqual(rejected);
      const overrides = 'directory_guard_overrides';
      const knex = await database.getClient();
      expect(await knex(overrides)).toMatchObject([{ accepted_by: 'dave' }]);
    });

    it('applies only to current quarantines of this directory', async () => {
      const { guard, quarantines } = await quarantine();
      await expect(
        (await open('b')).override({ users: 120, groups: 40, acceptedBy: 'x' }),
      ).rejects.toThrow('has not rejected');
      await check(guard, 190, 40);
      await quarantines.synchronize();
      await expect(override(120, 40)).rejects.toThrow('has not rejected');
    });

    it('does not apply to the quarantine of a process that has ended', async () => {
      await quarantine();
      now += 61_000;
      await expect(override(120, 40)).rejects.toThrow('has not rejected');
    });
  });

  describe('deletions from the replica', () => {
    it('would be rejected when they exceed the share', async () => {
      const guard = await start();
      const replica = { users: 990, groups: 98 };
      expect(guard.wouldReject({ users: 0, groups: 0 })).toBe(false);
      // The replica does not serve ten of the users and two of the groups.
      await check(guard, 1000, 100, replica);
      expect(guard.wouldReject({ users: 790, groups: 78 })).toBe(false);
      expect(guard.wouldReject({ users: 789, groups: 98 })).toBe(true);
      await expect(check(guard, 799, 100, replica)).rejects.toThrow(
        '799 users and 100 groups, after 1000 and 100',
      );
      expect(guard.quarantine).toMatchObject({ users: 799, groups: 100 });
    });

    it('are counted from the baseline, not from the last sync', async () => {
      const guard = await start();
      await check(guard, 1000, 100);
      await check(guard, 850, 100);
      expect(guard.wouldReject({ users: 799, groups: 100 })).toBe(true);
    });
  });

  describe('while the database cannot be read', () => {
    let records: ReplicaQuarantine;
    let guard: MassDeletionGuard;
    let isReadable: boolean;

    beforeEach(async () => {
      isReadable = true;
      records = await open();
      const load = records.load.bind(records);
      records.load = async () => {
        if (!isReadable) {
          throw new Error('connection refused');
        }
        return load();
      };
      guard = new MassDeletionGuard({ records, logger, maxShrinkage: 0.2 });
    });

    it('rejects the first sync', async () => {
      await check(await start(), 1000, 100);
      isReadable = false;
      const unavailable = expect.objectContaining({ reason: 'database' });
      await expect(guard.prepare()).rejects.toEqual(unavailable);
      await expect(check(guard, 1000, 100)).rejects.toEqual(unavailable);
      isReadable = true;
      await guard.prepare();
      await expect(check(guard, 700, 100)).rejects.toEqual(rejected);
    });

    it('checks later syncs against the last baseline', async () => {
      await check(guard, 1000, 100);
      isReadable = false;
      await check(guard, 900, 100);
      await expect(check(guard, 700, 100)).rejects.toEqual(rejected);
      await check(guard, 900, 100);
      expect(
        logger.lines.filter(line => line.includes('cannot be read')),
      ).toHaveLength(1);
    });
  });

  it('records one row per hour with the highest counts', async () => {
    const guard = await start();
    await check(guard, 100, 30);
    await check(guard, 101, 29);
    await check(guard, 95, 31);
    const knex = await database.getClient();
    expect(await knex('directory_guard_history')).toMatchObject([
      { users: 101, groups: 31 },
    ]);
  });
});
