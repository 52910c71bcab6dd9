import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import type { Quarantine } from '@directory-gateway/directory-core';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { ReplicaQuarantine } from './ReplicaQuarantine';

const few: Quarantine = { users: 3, groups: 1, message: 'few users' };
const fewer: Quarantine = { users: 2, groups: 1, message: 'fewer users' };

/** The parts of a process that its guard and its replica need. */
class GuardedProcess {
  quarantine: Quarantine | undefined;
  retries = 0;
  readonly guard = this;
  readonly replica = this;

  retry() {
    this.retries++;
  }
}

describe('ReplicaQuarantine', () => {
  const database = withDatabase();
  let processes: readonly GuardedProcess[];
  let quarantines: readonly ReplicaQuarantine[];
  let shutdown: (() => void | Promise<void>)[];

  const follow = (index: number, guarded = processes[index]) =>
    quarantines[index].start(guarded, {
      addStartupHook() {},
      addShutdownHook: hook => shutdown.push(hook),
    });

  beforeEach(async () => {
    shutdown = [];
    processes = [0, 1, 2].map(() => new GuardedProcess());
    quarantines = await Promise.all(
      processes.map(
        async () =>
          new ReplicaQuarantine({
            database: await openDatabase(database),
            directoryKey: 'a',
            logger: new RecordingLogger(),
            intervalMs: 10,
          }),
      ),
    );
  });

  const synchronize = () =>
    Promise.all(quarantines.map(each => each.synchronize()));
  const stop = () => Promise.all(shutdown.map(hook => hook()));

  /**
   * Synchronizes each process once; tests then call `synchronize` themselves.
   */
  const followAndStop = async () => {
    processes.forEach((_process, index) => follow(index));
    await stop();
    await synchronize();
  };
  const retries = () => processes.map(process => process.retries);
  const rows = async () =>
    (await database.getClient())('directory_quarantines').select('users');

  it('retries in every process that an override covers', async () => {
    processes[1].quarantine = few;
    processes[2].quarantine = fewer;
    await followAndStop();
    expect(retries()).toEqual([0, 0, 0]);
    // The override comes from a process that is not quarantined.
    await quarantines[0].override({ ...few, acceptedBy: 'dave' });
    await synchronize();
    expect(retries()).toEqual([0, 1, 0]);
  });

  it('accepts an override before the quarantine of the same process is recorded', async () => {
    await followAndStop();
    processes[0].quarantine = few;
    await quarantines[0].override({ ...few, acceptedBy: 'dave' });
    expect(retries()).toEqual([1, 0, 0]);
  });

  it('deletes the record when the quarantine ends', async () => {
    processes[0].quarantine = few;
    processes[1].quarantine = fewer;
    await followAndStop();
    expect(await rows()).toHaveLength(2);
    processes[0].quarantine = undefined;
    await synchronize();
    expect(await rows()).toEqual([{ users: 2 }]);
  });

  it('deletes the record of a process that has ended', async () => {
    processes[0].quarantine = few;
    processes[1].quarantine = fewer;
    await followAndStop();
    const knex = await database.getClient();
    await knex('directory_quarantines').update({ seen_at: new Date(0) });
    await quarantines[1].synchronize();
    expect(await rows()).toEqual([{ users: 2 }]);
  });

  it('waits for a slow database without queueing queries', async () => {
    processes[0].quarantine = few;
    const knex = await database.getClient();
    const busy = await knex.transaction();
    follow(0);
    // The transaction holds the only connection.
    const pending = () => knex.client.pool.numPendingAcquires();
    await eventually(() => expect(pending()).toBeGreaterThan(0));
    // A process without a quarantine does not query the database.
    let intervals = 0;
    const idle = new GuardedProcess();
    Object.defineProperty(idle, 'quarantine', { get: () => void intervals++ });
    follow(1, idle);
    await eventually(() => expect(intervals).toBeGreaterThan(5));
    const queued = pending();
    await busy.rollback();
    await eventually(async () => expect(await rows()).toHaveLength(1));
    await stop();
    await synchronize();
    expect(queued).toBe(1);
  });
});
