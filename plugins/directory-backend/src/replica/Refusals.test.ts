import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../__testUtils__/eventually';
import { RecordingLogger } from '../__testUtils__/RecordingLogger';
import { withDatabase } from '../__testUtils__/withDatabase';
import { Refusals } from './Refusals';

/** A process of the portal, as far as it refuses. */
class RefusingProcess {
  refusal: string | undefined;
  acceptances = 0;

  acceptShrinkage() {
    this.acceptances++;
  }
}

describe('Refusals', () => {
  const database = withDatabase();
  let replicas: readonly RefusingProcess[];
  let refusals: readonly Refusals[];

  beforeEach(async () => {
    replicas = Array.from({ length: 3 }, () => new RefusingProcess());
    refusals = await Promise.all(
      replicas.map(replica =>
        Refusals.create({ database, replica, logger: new RecordingLogger() }),
      ),
    );
  });

  const exchange = () =>
    Promise.all(refusals.map(process => process.exchange()));
  const acceptances = () => replicas.map(process => process.acceptances);

  it('are accepted by all who refuse, each once, whoever was told', async () => {
    const [, second, third] = replicas;
    second.refusal = 'no users';
    third.refusal = 'no groups';
    await exchange();

    // The one that was told refuses nothing itself.
    expect(await refusals[0].acceptAll()).toEqual(['no users', 'no groups']);
    await exchange();
    await exchange();
    expect(acceptances()).toEqual([0, 1, 1]);
  });

  it('are accepted at once by the one that was told', async () => {
    replicas[0].refusal = 'no users';
    replicas[1].refusal = 'no users';
    await exchange();
    expect(await refusals[0].acceptAll()).toEqual(['no users']);
    expect(acceptances()).toEqual([1, 0, 0]);
    await exchange();
    expect(acceptances()).toEqual([1, 1, 0]);
  });

  it('that come later are not accepted', async () => {
    const [first, second] = replicas;
    first.refusal = 'no users';
    await exchange();
    expect(await refusals[1].acceptAll()).toEqual(['no users']);
    first.refusal = undefined;
    await exchange();
    first.refusal = 'no groups';
    second.refusal = 'no groups';
    await exchange();
    expect(acceptances()).toEqual([0, 0, 0]);
  });

  it('that are over are nothing to accept', async () => {
    replicas[0].refusal = 'no users';
    await exchange();
    replicas[0].refusal = undefined;
    await exchange();
    expect(await refusals[1].acceptAll()).toEqual([]);
    const knex = await database.getClient();
    expect(await knex('directory_refusals')).toEqual([]);
  });

  it('wait for a slow database without queueing up', async () => {
    const [replica] = replicas;
    replica.refusal = 'no users';
    const knex = await database.getClient();
    const hooks: (() => void | Promise<void>)[] = [];
    const busy = await knex.transaction();
    refusals[0].keep({
      addStartupHook() {},
      addShutdownHook: hook => hooks.push(hook),
    });
    // The transaction has the only connection.
    const pending = () => knex.client.pool.numPendingAcquires();
    await eventually(() => expect(pending()).toBe(1));
    // More than the interval between two exchanges.
    await sleep(1500);
    expect(pending()).toBe(1);

    await busy.rollback();
    await eventually(async () =>
      expect(await knex('directory_refusals')).toHaveLength(1),
    );
    await Promise.all(hooks.map(hook => hook()));
  });

  it('of a process that has died are forgotten', async () => {
    replicas[0].refusal = 'no users';
    replicas[1].refusal = 'no users';
    await exchange();
    const knex = await database.getClient();
    await knex('directory_refusals').update({ seen_at: new Date(0) });
    expect(await refusals[2].acceptAll()).toEqual([]);
    await refusals[1].exchange();
    expect(await knex('directory_refusals')).toHaveLength(1);
  });
});
