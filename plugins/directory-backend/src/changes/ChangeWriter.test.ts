import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import fc from 'fast-check';
import { createSecretKey } from 'node:crypto';
import { Follower } from '../__testUtils__/changes/Follower';
import { withDatabase } from '../__testUtils__/withDatabase';
import { emptyGroup, emptyUser, type User } from '../directory/records';
import { openDatabase } from '../openDatabase';
import type { ConfirmedSync } from '../replica/sync/DirectorySync';
import { ReplicaTables } from '../replica/tables/ReplicaTables';
import { type Change, ChangeLog } from './ChangeLog';
import { ChangeWriter, type ChangeWriterOptions } from './ChangeWriter';

const DAY_MS = 24 * 60 * 60_000;

const secret = (id: string) => ({
  id,
  key: createSecretKey(Buffer.alloc(32, id)),
});

const userKey = (name: string) => `uid=${name},cn=users`;
const groupKey = (name: string) => `cn=${name},cn=groups`;

const database = withDatabase();

/** A directory whose replica is written by the test. */
class TestDirectory {
  readonly tables = new ReplicaTables();
  readonly writers = new Set<ChangeWriter>();
  sync: ConfirmedSync = {
    server: 'ldaps://one',
    usn: 1,
    requestedAt: 0,
    replicated: undefined,
  };

  setUser(name: string, values: Partial<User> & { uniqueId?: string } = {}) {
    const { uniqueId, ...fields } = values;
    this.tables.users.set(userKey(name), {
      uniqueId,
      user: { ...emptyUser(), username: name, ...fields },
    });
    this.#written(userKey(name));
  }

  setGroup(
    name: string,
    members: readonly string[] = [],
    options: { description?: string; uniqueId?: string; served?: boolean } = {},
  ) {
    const { description, uniqueId, served = true } = options;
    this.tables.groups.set(groupKey(name), {
      uniqueId,
      group: served
        ? { ...emptyGroup(), groupname: name, description }
        : undefined,
      members,
      sponsors: [],
    });
    this.#written(groupKey(name));
  }

  delete(key: string) {
    this.tables.users.delete(key);
    this.tables.groups.delete(key);
    this.#written(key);
  }

  /** Confirms a sync, and waits for the appends of the writers. */
  async confirm() {
    this.sync = {
      ...this.sync,
      usn: this.sync.usn! + 1,
      requestedAt: performance.now(),
    };
    for (const writer of this.writers) {
      writer.onConfirmed(this.sync);
      await writer.idle();
    }
  }

  #written(key: string) {
    this.writers.forEach(writer => writer.onWrite([key]));
  }
}

const published: unknown[] = [];

async function openLog() {
  return ChangeLog.open(await openDatabase(database));
}

async function startWriter(
  directory: TestDirectory,
  options: Partial<ChangeWriterOptions> = {},
) {
  const writer = new ChangeWriter({
    log: await openLog(),
    tables: directory.tables,
    keys: [secret('a')],
    fields: {
      user: Object.keys(emptyUser()),
      group: Object.keys(emptyGroup()),
    },
    isVisible: (field, record) =>
      field !== 'surname' || !('is_private' in record && record.is_private),
    retentionMs: 90 * DAY_MS,
    events: {
      async publish(event) {
        published.push(event);
      },
    },
    logger: new RecordingLogger(),
    ...options,
  });
  directory.writers.add(writer);
  return writer;
}

async function stopWriter(directory: TestDirectory, writer: ChangeWriter) {
  directory.writers.delete(writer);
  await writer.stop();
}

async function readChanges(after = 0): Promise<readonly Change[]> {
  const log = await openLog();
  const found = await log.read({ after, limit: 100_000 });
  return found!.changes;
}

/** One line for each change. */
async function lines(after = 0) {
  return (await readChanges(after)).map(
    ({ kind, subject, member, oldName, fields }) =>
      [
        kind,
        subject.name,
        ...(member ? [member.name] : []),
        ...(oldName ? [`from ${oldName}`] : []),
        ...(fields ?? []),
      ].join(' '),
  );
}

async function dump() {
  const client = await database.getClient();
  return {
    changes: await client('directory_changes'),
    entries: await client('directory_change_entries'),
  };
}

async function clear() {
  const client = await openDatabase(database);
  for (const table of [
    'directory_changes',
    'directory_change_members',
    'directory_change_entries',
    'directory_change_writer',
  ]) {
    await client(table).delete();
  }
}

const number = fc.integer({ min: 0, max: 5 });

/** Operations on users and groups with the numbers 0 to 5. */
const operation = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(fc.constant('create'), number, number) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('delete'), number, number) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('rename'), number, number) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('recreate'), number, number) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('lock'), number, number) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('change'), number, number) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('group'), number, number) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('ungroup'), number, number) },
  { weight: 5, arbitrary: fc.tuple(fc.constant('join'), number, number) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('nest'), number, number) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('confirm'), number, number) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('restart'), number, number) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('takeOver'), number, number) },
);

async function replay(operations: readonly [string, number, number][]) {
  const directory = new TestDirectory();
  let writer = await startWriter(directory);
  await directory.confirm();
  const users = new Map<
    number,
    { name: string; id: string; locked: boolean }
  >();
  const groups = new Map<
    number,
    { name: string; id: string; members: Set<string> }
  >();
  let next = 0;
  const putUser = (n: number, value = 0) => {
    const { name, id, locked } = users.get(n)!;
    directory.setUser(name, {
      uniqueId: id,
      locked,
      emails: [`${value}@example.test`],
    });
  };
  const putGroup = (n: number, value = 0) => {
    const { name, id, members } = groups.get(n)!;
    directory.setGroup(name, [...members], {
      uniqueId: id,
      description: `${value}`,
    });
  };
  const replaceMember = (from: string, to?: string) => {
    for (const [n, group] of groups) {
      if (group.members.delete(from)) {
        if (to !== undefined) {
          group.members.add(to);
        }
        putGroup(n);
      }
    }
  };
  for (const [kind, a, b] of operations) {
    const user = users.get(a);
    const group = groups.get(a);
    if (kind === 'create' && !user) {
      users.set(a, { name: `u${a}`, id: `${next++}`, locked: b % 2 === 0 });
      putUser(a);
    } else if (kind === 'delete' && user) {
      users.delete(a);
      directory.delete(userKey(user.name));
      replaceMember(userKey(user.name));
    } else if (kind === 'rename' && user) {
      const old = userKey(user.name);
      user.name = `u${a}${next++}`;
      if (b % 2 === 0) {
        directory.delete(old);
        putUser(a);
      } else {
        putUser(a);
        directory.delete(old);
      }
      replaceMember(old, userKey(user.name));
    } else if (kind === 'rename' && group) {
      const old = groupKey(group.name);
      group.name = `g${a}${next++}`;
      directory.delete(old);
      putGroup(a);
      replaceMember(old, groupKey(group.name));
    } else if (kind === 'recreate' && user) {
      user.id = `${next++}`;
      putUser(a);
    } else if (kind === 'lock' && user) {
      user.locked = b % 2 === 0;
      putUser(a);
    } else if (kind === 'change' && user) {
      putUser(a, b);
    } else if (kind === 'group' && !group) {
      groups.set(a, { name: `g${a}`, id: `${next++}`, members: new Set() });
      putGroup(a);
    } else if (kind === 'ungroup' && group) {
      groups.delete(a);
      directory.delete(groupKey(group.name));
      replaceMember(groupKey(group.name));
    } else if (kind === 'join' && group && users.has(b)) {
      const member = userKey(users.get(b)!.name);
      if (!group.members.delete(member)) {
        group.members.add(member);
      }
      putGroup(a);
    } else if (kind === 'nest' && group && groups.has(b) && a !== b) {
      group.members.add(groupKey(groups.get(b)!.name));
      putGroup(a, b);
    } else if (kind === 'confirm') {
      await directory.confirm();
    } else if (kind === 'restart') {
      await stopWriter(directory, writer);
      writer = await startWriter(directory);
    } else if (kind === 'takeOver') {
      // The other process has not noticed yet that its lease has expired.
      const client = await database.getClient();
      await client('directory_change_writer').update({
        expires_at: new Date(0),
      });
      writer = await startWriter(directory);
    }
  }
  await directory.confirm();
  await stopWriter(directory, writer);
  directory.writers.clear();
  await startWriter(directory);
  await directory.confirm();
  await directory.confirm();

  const follower = new Follower();
  const changes = await readChanges();
  changes.forEach(change => follower.apply(change));
  const memberName = (key: string) =>
    key.startsWith('uid=')
      ? `user ${key.slice(4, key.indexOf(','))}`
      : `group ${key.slice(3, key.indexOf(','))}`;
  const expected = {
    users: Object.fromEntries(
      [...users.values()].map(({ name, locked }) => [name, { locked }]),
    ),
    groups: Object.fromEntries(
      [...groups.values()].map(({ name, members }) => [
        name,
        [...members].map(memberName).sort(),
      ]),
    ),
  };
  const ids = changes.map(({ id }) => id);
  return { ids, state: follower.state, expected };
}

describe('ChangeWriter', () => {
  it('records existing entries without changes and logs later changes', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    directory.setGroup('staff', [userKey('alice')]);
    await startWriter(directory);
    await directory.confirm();
    expect(await lines()).toEqual([]);

    directory.setUser('bob', { locked: true });
    directory.setGroup('staff', [userKey('bob')], { description: 'Staff' });
    directory.setUser('alice', { emails: ['a@example.test'] });
    await directory.confirm();
    expect(await lines()).toEqual([
      'user_created bob',
      'user_locked bob',
      'group_changed staff description',
      'user_changed alice emails',
      'member_removed staff alice',
      'member_added staff bob',
    ]);
  });

  it('logs changes that were made while no writer was running', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { uniqueId: '1' });
    directory.setUser('bob', { uniqueId: '2' });
    directory.setGroup('staff', [userKey('alice'), userKey('bob')]);
    const writer = await startWriter(directory);
    await directory.confirm();
    await stopWriter(directory, writer);

    directory.setUser('alice', {
      uniqueId: '1',
      locked: true,
      pronouns: ['x'],
    });
    directory.delete(userKey('bob'));
    directory.setUser('robert', { uniqueId: '2' });
    directory.setGroup('staff', [userKey('robert')]);
    directory.setGroup('new');
    await startWriter(directory);
    await directory.confirm();
    await directory.confirm();
    expect(await lines()).toEqual([
      'user_locked alice',
      'user_changed alice pronouns',
      'user_renamed robert from bob',
      'group_created new',
      'member_removed staff alice',
    ]);
  });

  it('logs a rename although the old key is deleted first', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { uniqueId: '1' });
    directory.setGroup('staff', [userKey('alice')]);
    await startWriter(directory);
    await directory.confirm();
    const early = { ...directory.sync, requestedAt: performance.now() };
    directory.delete(userKey('alice'));
    directory.sync = early;
    for (const writer of directory.writers) {
      writer.onConfirmed(early);
      await writer.idle();
    }
    expect(await lines()).toEqual([]);
    directory.setUser('alicia', { uniqueId: '1' });
    directory.setGroup('staff', [userKey('alicia')]);
    await directory.confirm();
    expect(await lines()).toEqual(['user_renamed alicia from alice']);
  });

  it('postpones a rename until the old key is deleted', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { uniqueId: '1' });
    await startWriter(directory);
    await directory.confirm();
    directory.setUser('alicia', { uniqueId: '1' });
    await directory.confirm();
    expect(await lines()).toEqual([]);
    directory.delete(userKey('alice'));
    await directory.confirm();
    expect(await lines()).toEqual(['user_renamed alicia from alice']);
  });

  it('logs a new user with the name of a deleted user as another user', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { uniqueId: '1' });
    await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { uniqueId: '2' });
    await directory.confirm();
    expect(await lines()).toEqual(['user_deleted alice', 'user_created alice']);
    const [deleted, created] = await readChanges();
    expect(deleted.subject.presentName).toBeUndefined();
    expect(created.subject.presentName).toBe('alice');
  });

  it('logs nothing when unique IDs become readable or unreadable', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    directory.setUser('bob', { uniqueId: '2' });
    await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { uniqueId: '1' });
    directory.setUser('bob');
    await directory.confirm();
    expect(await lines()).toEqual([]);
    directory.delete(userKey('alice'));
    directory.setUser('alicia', { uniqueId: '1' });
    await directory.confirm();
    expect(await lines()).toEqual(['user_renamed alicia from alice']);
  });

  it('does not log the names of fields that are hidden', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { is_private: true });
    await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { is_private: true, surname: 'Marker' });
    await directory.confirm();
    expect(await lines()).toEqual([]);
    expect(JSON.stringify(await dump())).not.toContain('Marker');
  });

  it('logs nothing when a field is mapped or the key of the digests is replaced', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { surname: 'A', emails: ['a@example.test'] });
    directory.setUser('bob', { surname: 'B' });
    let writer = await startWriter(directory, {
      fields: { user: ['username', 'emails'], group: [] },
    });
    await directory.confirm();
    await stopWriter(directory, writer);
    writer = await startWriter(directory, { keys: [secret('b'), secret('a')] });
    await directory.confirm();
    await stopWriter(directory, writer);
    expect(await lines()).toEqual([]);

    directory.setUser('alice', { surname: 'C', emails: ['a@example.test'] });
    writer = await startWriter(directory, { keys: [secret('b')] });
    await directory.confirm();
    await stopWriter(directory, writer);
    expect(await lines()).toEqual(['user_changed alice surname']);

    // Without the old key, values cannot be compared.
    directory.setUser('alice', { surname: 'D', locked: true });
    await startWriter(directory, { keys: [secret('c')] });
    await directory.confirm();
    expect((await lines()).slice(1)).toEqual(['user_locked alice']);
  });

  it('does not append while a server lags behind', async () => {
    const directory = new TestDirectory();
    const state = (change: string) => ({
      generation: 'g',
      latest: new Map([['1', change]]),
    });
    directory.setUser('alice');
    directory.setGroup('staff', [userKey('alice')]);
    await startWriter(directory);
    directory.sync = { ...directory.sync, replicated: state('5') };
    await directory.confirm();

    directory.setGroup('staff', []);
    directory.sync = {
      ...directory.sync,
      server: 'ldaps://two',
      replicated: state('4'),
    };
    await directory.confirm();
    expect(await lines()).toEqual([]);
    directory.setGroup('staff', [userKey('alice')]);
    directory.setUser('alice', { locked: true });
    directory.sync = { ...directory.sync, replicated: state('6') };
    await directory.confirm();
    expect(await lines()).toEqual(['user_locked alice']);
  });

  it('writes in one process, until another process takes over', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    const first = await startWriter(directory);
    const second = await startWriter(directory);
    await directory.confirm();
    directory.setUser('bob');
    await directory.confirm();
    expect(await lines()).toEqual(['user_created bob']);

    // The first writer's lease expires while that writer is paused.
    directory.writers.delete(first);
    const client = await database.getClient();
    await client('directory_change_writer').update({ expires_at: new Date(0) });
    const log = await openLog();
    const { lease } = await log.acquire();
    await log.release(lease!);
    directory.setUser('carol');
    first.onWrite([userKey('carol')]);
    first.onConfirmed(directory.sync);
    await first.idle();
    expect(await lines()).toEqual(['user_created bob']);

    await stopWriter(directory, second);
    await startWriter(directory);
    await directory.confirm();
    expect(await lines()).toEqual(['user_created bob', 'user_created carol']);
  });

  it('reports that changes are logged when another process renews its lease', async () => {
    const directory = new TestDirectory();
    const first = await startWriter(directory);
    expect(first.isLogging).toBe(false);
    await directory.confirm();
    expect(first.isLogging).toBe(true);

    // The first one crashes: its lease does not expire yet.
    directory.writers.delete(first);
    const second = await startWriter(directory);
    const tryAgain = async () => {
      second.retry();
      await directory.confirm();
    };
    await tryAgain();
    await tryAgain();
    expect(second.isLogging).toBe(false);

    // The first process continues.
    first.retry();
    first.onConfirmed(directory.sync);
    await first.idle();
    await tryAgain();
    expect(second.isLogging).toBe(true);

    await first.stop();
    await tryAgain();
    expect([first.isLogging, second.isLogging]).toEqual([false, true]);
  });

  it('appends changes that a failed database missed', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    const logger = new RecordingLogger();
    const log = await openLog();
    let isFailing = false;
    const append = log.append.bind(log);
    log.append = async (...args) => {
      if (isFailing) {
        throw new Error('no database');
      }
      return append(...args);
    };
    const writer = await startWriter(directory, { log, logger });
    await directory.confirm();
    isFailing = true;
    directory.setUser('bob');
    await directory.confirm();
    expect(logger.lines.join('\n')).toContain(
      'The change log cannot be written',
    );
    isFailing = false;
    writer.retry();
    await directory.confirm();
    expect(await lines()).toEqual(['user_created bob']);
    expect(logger.lines.join('\n')).toContain(
      'The change log can be written again',
    );
  });

  it('deletes old changes and replaces the names of deleted users', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    directory.setGroup('staff', [userKey('alice')]);
    const writer = await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { locked: true });
    directory.setGroup('staff', []);
    await directory.confirm();
    directory.delete(userKey('alice'));
    await directory.confirm();
    await stopWriter(directory, writer);
    const log = await openLog();
    const { lease } = await log.acquire();
    const future = new Date(Date.now() + DAY_MS);
    await log.prune(lease!, { before: new Date(0), deletedBefore: future });
    expect(await lines()).toEqual([
      expect.stringMatching(/^user_locked deleted-user-\d+$/),
      expect.stringMatching(/^member_removed staff deleted-user-\d+$/),
      expect.stringMatching(/^user_deleted deleted-user-\d+$/),
    ]);
    expect(JSON.stringify(await dump())).not.toContain('alice');

    await log.prune(lease!, { before: future, deletedBefore: future });
    expect(await log.position()).toEqual({ first: 3, last: 3 });
    expect(await log.read({ after: 2, limit: 10 })).toBeUndefined();
    expect(await log.read({ after: 4, limit: 10 })).toBeUndefined();
    expect(await log.read({ after: 3, limit: 10 })).toEqual({
      changes: [],
      last: 3,
      hasMore: false,
    });
  });

  it('reproduces the directory from the log after any changes, restarts and takeovers', async () => {
    await fc.assert(
      fc
        .asyncProperty(
          fc.array(operation, { minLength: 1, maxLength: 60 }),
          async operations => {
            const { ids, state, expected } = await replay(operations);
            expect(state).toEqual(expected);
            expect(ids).toEqual(ids.map((_id, index) => index + 1));
          },
        )
        .beforeEach(clear),
      { numRuns: 15 * Number(process.env.RUNS || 1) },
    );
  }, 600_000);
});
