import { comparePositions } from '../__testUtils__/changes/comparePositions';
import { resolvePackagePath } from '@backstage/backend-plugin-api';
import {
  type Database,
  migrateDatabase,
} from '@directory-gateway/backstage-plugin-directory-node';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { PostgresServer } from '@directory-gateway/realm';
import {
  emptyGroup,
  emptyUser,
  ReplicaTables,
} from '@directory-gateway/directory-core';
import { withDatabase } from '../__testUtils__/withDatabase';
import { migrationsTable, openDatabase } from '../openDatabase';
import { ChangeLog } from './ChangeLog';
import { ChangeWriter } from './ChangeWriter';

const DAY_MS = 24 * 60 * 60_000;

const JOINED = new Date(Date.now() - 40 * DAY_MS);

const sqlite = withDatabase();
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});

afterAll(async () => {
  await postgres?.stop();
});

async function withSqlite(test: (database: Database) => Promise<void>) {
  await test(await sqlite.getClient());
}

async function withPostgres(test: (database: Database) => Promise<void>) {
  const database = postgres.connect(await postgres.createDatabase());
  try {
    await test(database);
  } finally {
    await database.destroy();
  }
}

/** Runs the migrations of 0.2.0. */
function migrateAsBefore(database: Database) {
  return migrateDatabase({
    database,
    directory: resolvePackagePath(
      '@directory-gateway/backstage-plugin-directory-backend',
      'migrations',
    ),
    tableName: migrationsTable,
  });
}

/** Fills the tables as 0.2.0 did: a member, and a deleted user. */
async function fillAsBefore(database: Database) {
  const rows = { digests: '{}', key_id: 'a', is_pseudonym: false };
  await database('directory_change_writer').insert({
    id: 1,
    log_id: '0b5cbe7e-4d1f-4d4e-a0a4-8bb7b4e5a3de',
    fence: 7,
    expires_at: new Date(0),
    first_id: 0,
    last_id: 3,
    last_entry_id: 3,
    is_complete: true,
  });
  await database('directory_change_entries').insert([
    {
      ...rows,
      id: 1,
      kind: 'user',
      key: 'uid=alice',
      unique_id: 'a',
      name: 'alice',
      locked: false,
    },
    {
      ...rows,
      id: 2,
      kind: 'group',
      key: 'cn=staff',
      unique_id: 's',
      name: 'staff',
      locked: false,
    },
    { ...rows, id: 3, kind: 'user', key: null, name: 'bob', locked: false },
  ]);
  await database('directory_change_members').insert({
    group_id: 2,
    member_id: 1,
  });
  await database('directory_changes').insert([
    {
      id: 1,
      time: JOINED,
      kind: 'member_added',
      entry_id: 2,
      name: 'staff',
      member_id: 1,
      member_name: 'alice',
    },
    {
      id: 2,
      time: new Date(),
      kind: 'user_changed',
      entry_id: 1,
      name: 'alice',
      fields: '["emails"]',
    },
    { id: 3, time: JOINED, kind: 'user_deleted', entry_id: 3, name: 'bob' },
  ]);
}

describe('a database of 0.2.0', () => {
  it.each([
    ['SQLite', withSqlite],
    ['PostgreSQL', withPostgres],
  ])(
    'keeps histories and times of joining on %s, without events of the first run',
    async (_name, withClient) =>
      withClient(async client => {
        await migrateAsBefore(client);
        await fillAsBefore(client);
        const database = await openDatabase({ getClient: async () => client });
        const log = new ChangeLog({ database, definition: 'test' });
        const logger = new RecordingLogger();
        const tables = new ReplicaTables();
        tables.users.set('uid=alice', {
          uniqueId: 'a',
          user: { ...emptyUser(), username: 'alice' },
        });
        tables.users.set('uid=carol', {
          uniqueId: 'c',
          user: { ...emptyUser(), username: 'carol' },
        });
        tables.groups.set('cn=staff', {
          uniqueId: 's',
          group: { ...emptyGroup(), groupname: 'staff' },
          members: ['uid=alice', 'uid=carol'],
          sponsors: [],
        });
        const { logId } = await log.state();
        const writer = new ChangeWriter({
          log,
          tables,
          compare: comparePositions,
          publicValues: () => [],
          retentionMs: 90 * DAY_MS,
          logger,
        });
        writer.onConfirmed({
          server: 'ldaps://one',
          value: '1',
          requestedAt: performance.now(),
        });
        await writer.idle();

        expect(logger.lines).toEqual([]);
        const state = await log.state();
        expect(state).toMatchObject({ first: 3, last: 3, isWritten: true });
        expect(state.logId).not.toBe(logId);
        expect(await log.joinTimesOf('staff')).toEqual(
          new Map([['alice', JOINED]]),
        );
        const history = await log.readOf(
          { kind: 'group', name: 'staff' },
          { kinds: ['member_added'], limit: 10 },
        );
        expect(history).toMatchObject([
          { time: JOINED, member_kind: 'user', member_present_name: 'alice' },
        ]);
        // 0.2.0 can start again: it knows all migrations in its table, and the
        // lease excludes it while this process writes.
        await migrateAsBefore(client);
        const lease = await client('directory_change_writer').first();
        expect(Number(lease.fence)).toBe(8);
        expect(Number(new Date(lease.expires_at))).toBeGreaterThan(Date.now());
        await client('directory_change_writer').update({ fence: 9 });
        expect(await log.state()).toMatchObject({ isWritten: false });
        await client('directory_change_writer').update({ fence: 8 });
        await writer.stop();

        // After 30 days, its tables are emptied, and it records all entries.
        const former = async () => ({
          names: await client('directory_change_entries').pluck('name'),
          changes: (await client('directory_changes').pluck('id')).map(Number),
        });
        const recent = await former();
        expect(recent.names).toHaveLength(3);
        expect(recent.changes).toEqual([1, 2, 3]);
        await client('directory_changes').update({ time: JOINED });
        await log.prune((await log.acquire())!, 90 * DAY_MS);
        expect(await former()).toEqual({ names: [], changes: [] });
        const writing = await client('directory_change_writer').first();
        expect(Number(writing.first_id)).toBe(3);
        expect(Boolean(writing.is_complete)).toBe(false);
      }),
  );
});
