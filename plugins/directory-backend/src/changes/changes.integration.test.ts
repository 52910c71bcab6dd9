import {
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import fc from 'fast-check';
import {
  hiddenFieldNames,
  PrincipalSet,
} from '@directory-gateway/directory-core';
import {
  change,
  conformanceEntries,
  dumpEntries,
  edit,
  eventually,
  type Marker,
  NaiveDirectory,
  NaiveMembership,
  plantMarkers,
} from '@directory-gateway/directory-core/testUtils';
import {
  openReplica,
  type OpenReplica,
} from '@directory-gateway/ldap/testUtils';
import { Follower } from '../__testUtils__/changes/Follower';
import { openDatabase } from '../openDatabase';
import { ChangeLog } from './ChangeLog';
import { ChangeWriter } from './ChangeWriter';
import { publicValuesFor } from './createChanges';

/** Writes to the directory. */
const WRITES = Number(process.env.WRITES || 15);
/** Restarts of one of two processes. */
const RESTARTS = Number(process.env.RESTARTS || 1);
const SEED = Number(process.env.SEED || 1);

jest.setTimeout(600_000 + WRITES * 1000);

let realm: Realm;
let postgres: PostgresServer;
let markers: readonly Marker[];

beforeAll(async () => {
  [realm, postgres] = await Promise.all([startRealm(), PostgresServer.start()]);
  await realm.modify(conformanceEntries('fas'));
  markers = await plantMarkers(realm, ['bob']);
});

afterAll(async () => {
  await postgres?.stop();
  await realm?.stop();
});

/** A process that follows the directory and may write the log. */
interface TestProcess {
  readonly replica: OpenReplica;
  readonly writer: ChangeWriter;
  readonly logger: RecordingLogger;
  stop(): Promise<void>;
}

async function startProcess(database: Database): Promise<TestProcess> {
  const log = new ChangeLog({ database, definition: 'test' });
  const logger = new RecordingLogger();
  let writer: ChangeWriter;
  const replica = await openReplica({
    realm,
    prepare(followed) {
      writer = new ChangeWriter({
        log,
        tables: followed.tables,
        compare: followed.compare,
        publicValues: publicValuesFor({
          hidden: new Set(hiddenFieldNames),
          trustedReaders: new PrincipalSet({}),
        }),
        retentionMs: 90 * 24 * 60 * 60_000,
        logger,
      });
      followed.observe(writer);
    },
  });
  return {
    replica,
    writer: writer!,
    logger,
    async stop() {
      replica.close();
      await writer!.stop();
    },
  };
}

/** Reads the existence, locks and effective members of the entries. */
async function readDirectory() {
  const dump = await dumpEntries(realm);
  const { users, groups } = new NaiveDirectory(dump, 'fas');
  const membership = new NaiveMembership(
    dump.filter(entry => entry.isIn(`cn=groups,cn=accounts,${realm.baseDn}`)),
  );
  const names = new Map([
    ...users.map(entry => [entry.key, `user ${entry.text('uid')}`] as const),
    ...groups.map(entry => [entry.key, `group ${entry.text('cn')}`] as const),
  ]);
  return {
    users: Object.fromEntries(
      users.map(entry => [
        entry.text('uid')!,
        { locked: entry.text('nsAccountLock')?.toUpperCase() === 'TRUE' },
      ]),
    ),
    groups: Object.fromEntries(
      groups.map(entry => [
        entry.text('cn')!,
        [...membership.membersOf(entry)]
          .filter(key => key !== entry.key)
          .flatMap(key => names.get(key) ?? [])
          .sort(),
      ]),
    ),
  };
}

/** Retries a write that the server rejects because of a concurrent one. */
async function write(ldif: string): Promise<void> {
  await eventually(() => realm.modify(ldif));
}

async function readLog(log: ChangeLog, after: number) {
  return log.readAfter(after, 1_000_000);
}

describe('the change log of a real directory', () => {
  it(`reproduces ${WRITES} random writes, ${RESTARTS} restarts, with two processes`, async () => {
    const name = await postgres.createDatabase();
    const knex = postgres.connect(name);
    const database = await openDatabase({ getClient: async () => knex });
    const log = new ChangeLog({ database, definition: 'test' });
    let processes = [await startProcess(database)];
    const isComplete = async () => {
      expect(await log.state()).toMatchObject({ isComplete: true });
    };
    await eventually(isComplete);
    processes.push(await startProcess(database));
    const follower = new Follower(await readDirectory());
    let last = 0;

    const restartEvery = Math.ceil(WRITES / RESTARTS);
    for (let step = 0; step < WRITES; step++) {
      const model = new NaiveDirectory(await dumpEntries(realm), 'fas');
      const unused = `new.${SEED}.${step}`;
      const [{ ldif }] = fc.sample(
        fc.oneof(change(model, unused), edit(model, unused)),
        { numRuns: 1, seed: SEED + step },
      );
      if (step % restartEvery === restartEvery - 1) {
        // The change is made while the first or both processes do not run.
        const stopped = processes.splice(0, 1 + (step % 2));
        await Promise.all(stopped.map(each => each.stop()));
        await write(ldif);
        processes = [
          ...processes,
          ...(await Promise.all(stopped.map(() => startProcess(database)))),
        ];
      } else {
        await write(ldif);
      }
    }

    const expected = await readDirectory();
    await eventually(async () => {
      for (const logged of await readLog(log, last)) {
        follower.apply(logged);
        last = logged.id;
      }
      expect(follower.state).toEqual(expected);
    });
    const { rows } = await database.raw(
      `select c::text from directory_change_events c
       union all select e::text from directory_known_entries e`,
    );
    const stored = JSON.stringify(rows);
    expect(markers.length).toBeGreaterThan(0);
    for (const { value } of markers) {
      expect(stored).not.toContain(value);
    }
    await Promise.all(processes.map(each => each.stop()));
    await knex.destroy();
  });
});
