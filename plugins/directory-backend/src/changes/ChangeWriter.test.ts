import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import fc from 'fast-check';
import {
  type CurrentPosition,
  emptyGroup,
  emptyUser,
  type GroupEntry,
  PrincipalSet,
  type ReplicaBatch,
  type ReplicaKind,
  ReplicaTables,
  TableWriter,
  type User,
  type UserEntry,
} from '@directory-gateway/directory-core';
import { comparePositions } from '../__testUtils__/changes/comparePositions';
import { Follower } from '../__testUtils__/changes/Follower';
import { withDatabase } from '../__testUtils__/withDatabase';
import { openDatabase } from '../openDatabase';
import { type Change, ChangeLog } from './ChangeLog';
import { ChangeWriter } from './ChangeWriter';
import { publicValuesFor } from './createChanges';

jest.setTimeout(60_000);

const DAY_MS = 24 * 60 * 60_000;

const userKey = (name: string) => `uid=${name},cn=users`;
const groupKey = (name: string) => `cn=${name},cn=groups`;

const database = withDatabase();

/** A directory whose replica is written by the test. */
class TestDirectory {
  readonly tables = new ReplicaTables();
  readonly writers = new Set<ChangeWriter>();
  sync: CurrentPosition = {
    server: 'ldaps://one',
    value: '1',
    requestedAt: 0,
  };

  readonly #tables = new TableWriter({
    tables: this.tables,
    onWrite: written => this.writers.forEach(writer => writer.onWrite(written)),
  });

  setUser(
    name: string,
    values: Partial<User> & { uniqueId?: string; key?: string } = {},
  ) {
    const { uniqueId, key = userKey(name), ...fields } = values;
    this.#write('users', key, {
      uniqueId,
      user: { ...emptyUser(), username: name, ...fields },
    });
  }

  setGroup(
    name: string,
    members: readonly string[] = [],
    options: {
      description?: string;
      uniqueId?: string;
      key?: string;
      served?: boolean;
    } = {},
  ) {
    const {
      description,
      uniqueId,
      key = groupKey(name),
      served = true,
    } = options;
    this.#write('groups', key, {
      uniqueId,
      group: served
        ? { ...emptyGroup(), groupname: name, description }
        : undefined,
      members,
      sponsors: [],
    });
  }

  delete(key: string) {
    for (const kind of ['users', 'groups'] as const) {
      const id = this.tables[kind].idOf(key);
      if (id !== undefined) {
        const missing = { id, key: '', entry: undefined };
        this.#tables.write({ kind, entries: [missing] });
      }
    }
  }

  /** Confirms a sync, and waits for the appends of the writers. */
  async confirm() {
    this.sync = {
      ...this.sync,
      value: String(Number(this.sync.value) + 1),
      requestedAt: performance.now(),
    };
    for (const writer of this.writers) {
      writer.onConfirmed(this.sync);
      await writer.idle();
    }
  }

  #write(kind: ReplicaKind, key: string, entry: UserEntry | GroupEntry) {
    const read = { id: entry.uniqueId ?? key, key, entry };
    this.#tables.write({ kind, entries: [read] } as ReplicaBatch);
  }
}

async function openLog(definition = 'test') {
  return new ChangeLog({ database: await openDatabase(database), definition });
}

async function startWriter(
  directory: TestDirectory,
  options: Partial<ConstructorParameters<typeof ChangeWriter>[0]> = {},
) {
  const writer = new ChangeWriter({
    log: await openLog(),
    tables: directory.tables,
    compare: comparePositions,
    publicValues: publicValuesFor({
      hidden: new Set(['surname']),
      trustedReaders: new PrincipalSet({}),
    }),
    retentionMs: 90 * DAY_MS,
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

async function readChanges(): Promise<readonly Change[]> {
  return (await openLog()).readAfter(0, 100_000);
}

/** One line for each change. */
async function lines() {
  return (await readChanges()).map(({ kind, name, member_name, old_name }) =>
    [
      kind,
      name,
      ...(member_name ? [member_name] : []),
      ...(old_name ? [`from ${old_name}`] : []),
    ].join(' '),
  );
}

/** Expires the lease of a process that does not notice it. */
async function expireLease() {
  const client = await database.getClient();
  await client('directory_change_writer').update({ expires_at: new Date(0) });
}

async function clear() {
  const client = await openDatabase(database);
  for (const table of [
    'directory_change_events',
    'directory_known_members',
    'directory_known_entries',
  ]) {
    await client(table).delete();
  }
  await client('directory_change_log').update({
    is_complete: false,
    last_id: 0,
    server: null,
  });
  await client('directory_change_writer').update({ expires_at: new Date(0) });
}

const number = fc.integer({ min: 0, max: 5 });

/** Operations on users and groups with the numbers 0 to 5, by weight. */
const operation = fc.oneof(
  ...Object.entries({
    create: 2,
    delete: 1,
    rename: 1,
    lock: 2,
    change: 2,
    group: 2,
    ungroup: 1,
    renameGroup: 1,
    serve: 1,
    join: 5,
    nest: 3,
    confirm: 4,
    restart: 1,
    takeOver: 1,
  }).map(([kind, weight]) => ({
    weight,
    arbitrary: fc.tuple(fc.constant(kind), number, number),
  })),
);

interface TestUser {
  name: string;
  readonly id: string;
  locked: boolean;
  value: number;
}

interface TestGroup {
  name: string;
  readonly id: string;
  served: boolean;
  readonly members: Set<TestUser | TestGroup>;
}

async function replay(
  operations: readonly [string, number, number][],
  { isStable }: { readonly isStable: boolean },
) {
  const directory = new TestDirectory();
  let writer = await startWriter(directory);
  await directory.confirm();
  const users = new Map<number, TestUser>();
  const groups = new Map<number, TestGroup>();
  let next = 0;
  const keyOf = (entry: TestUser | TestGroup) => {
    const nameKey = 'members' in entry ? groupKey : userKey;
    return isStable ? entry.id : nameKey(entry.name);
  };
  const put = (entry: TestUser | TestGroup) => {
    const key = keyOf(entry);
    if ('members' in entry) {
      const { name, id: uniqueId, served } = entry;
      const members = [...entry.members].map(keyOf);
      directory.setGroup(name, members, { key, uniqueId, served });
    } else {
      const { name, id: uniqueId, locked, value } = entry;
      const emails = [`${value}@example.test`];
      directory.setUser(name, { key, uniqueId, locked, emails });
    }
  };
  const putGroupsOf = (entry: TestUser | TestGroup) => {
    for (const group of groups.values()) {
      if (group.members.has(entry)) {
        put(group);
      }
    }
  };
  const rename = (entry: TestUser | TestGroup, name: string, order: number) => {
    const old = keyOf(entry);
    entry.name = name;
    if (!isStable && order % 2 === 0) {
      directory.delete(old);
    }
    put(entry);
    if (!isStable && order % 2 === 1) {
      directory.delete(old);
    }
    putGroupsOf(entry);
  };
  const remove = (entry: TestUser | TestGroup) => {
    directory.delete(keyOf(entry));
    for (const group of groups.values()) {
      if (group.members.delete(entry)) {
        put(group);
      }
    }
  };
  for (const [kind, a, b] of operations) {
    const user = users.get(a);
    const group = groups.get(a);
    if (kind === 'create' && !user) {
      const id = `id${next++}`;
      users.set(a, { name: `u${a}`, id, locked: b % 2 === 0, value: 0 });
      put(users.get(a)!);
    } else if (kind === 'delete' && user) {
      users.delete(a);
      remove(user);
    } else if (kind === 'rename' && user) {
      rename(user, `u${a}n${next++}`, b);
    } else if (kind === 'lock' && user) {
      user.locked = b % 2 === 0;
      put(user);
    } else if (kind === 'change' && user) {
      user.value = b;
      put(user);
    } else if (kind === 'group' && !group) {
      groups.set(a, {
        name: `g${a}`,
        id: `id${next++}`,
        served: b > 0,
        members: new Set(),
      });
      put(groups.get(a)!);
    } else if (kind === 'ungroup' && group) {
      groups.delete(a);
      remove(group);
    } else if (kind === 'renameGroup' && group) {
      rename(group, `g${a}n${next++}`, b);
    } else if (kind === 'serve' && group) {
      group.served = b % 2 === 0;
      put(group);
    } else if ((kind === 'join' || kind === 'nest') && group) {
      const member = kind === 'join' ? users.get(b) : groups.get(b);
      if (member && member !== group) {
        if (!group.members.delete(member)) {
          group.members.add(member);
        }
        put(group);
      }
    } else if (kind === 'confirm') {
      await directory.confirm();
    } else if (kind === 'restart') {
      await stopWriter(directory, writer);
      writer = await startWriter(directory);
    } else if (kind === 'takeOver') {
      await expireLease();
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
  const isServed = (entry: TestUser | TestGroup) =>
    !('members' in entry) || entry.served;
  const membersOf = (group: TestGroup) => {
    const found = new Set<TestUser | TestGroup>(group.members);
    for (const member of found) {
      if ('members' in member) {
        member.members.forEach(each => found.add(each));
      }
    }
    found.delete(group);
    return [...found]
      .filter(isServed)
      .map(each => `${'members' in each ? 'group' : 'user'} ${each.name}`)
      .sort();
  };
  const expected = {
    users: Object.fromEntries(
      [...users.values()].map(({ name, locked }) => [name, { locked }]),
    ),
    groups: Object.fromEntries(
      [...groups.values()]
        .filter(isServed)
        .map(group => [group.name, membersOf(group)]),
    ),
  };
  const ids = changes.map(({ id }) => id);
  return { ids, state: follower.state, expected };
}

afterEach(() => jest.restoreAllMocks());

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
      'group_changed staff',
      'user_changed alice',
      'member_added staff bob',
      'member_removed staff alice',
    ]);
  });

  it('logs one event when more than 500 members of a group change', async () => {
    const directory = new TestDirectory();
    const names = Array.from({ length: 501 }, (_, index) => `user${index}`);
    names.forEach(name => directory.setUser(name));
    directory.setGroup('team', names.map(userKey));
    directory.setGroup('staff');
    directory.setGroup('all', [groupKey('staff')]);
    await startWriter(directory);
    await directory.confirm();
    directory.setGroup('staff', [groupKey('team')]);
    await directory.confirm();
    directory.setGroup('team', names.slice(0, 499).map(userKey));
    await directory.confirm();
    expect(new Set(await lines())).toEqual(
      new Set([
        'members_changed staff',
        'members_changed all',
        ...['team', 'staff', 'all'].flatMap(group =>
          ['user499', 'user500'].map(name => `member_removed ${group} ${name}`),
        ),
      ]),
    );
  });

  it('logs changes made while no process was running', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    const writer = await startWriter(directory);
    await directory.confirm();
    await stopWriter(directory, writer);
    directory.setUser('alice', { human_name: 'Alice Black' });
    await startWriter(directory);
    await directory.confirm();
    expect(await lines()).toEqual(['user_changed alice']);
  });

  it('keeps the members of a large group that is deleted and created again', async () => {
    const directory = new TestDirectory();
    const names = Array.from({ length: 3000 }, (_, index) => `user${index}`);
    const members = names.map(userKey);
    names.forEach(name => directory.setUser(name));
    directory.setGroup('staff', members);
    const writer = await startWriter(directory);
    await directory.confirm();
    const client = await database.getClient();
    const recorded = () => client('directory_known_members').pluck('member_id');
    expect(await recorded()).toHaveLength(3000);

    directory.delete(groupKey('staff'));
    writer.onConfirmed(directory.sync);
    await new Promise(resolve => setImmediate(resolve));
    directory.setGroup('staff', members);
    await directory.confirm();
    expect(await recorded()).toHaveLength(3000);
  });

  it('logs that only direct memberships of a group have changed', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    directory.setGroup('staff', [userKey('alice')]);
    directory.setGroup('all', [groupKey('staff')]);
    await startWriter(directory);
    await directory.confirm();
    directory.setGroup('all', [groupKey('staff'), userKey('alice')]);
    await directory.confirm();
    directory.setGroup('all', [groupKey('staff')]);
    await directory.confirm();
    expect(await lines()).toEqual([
      'members_changed all',
      'members_changed all',
    ]);
  });

  it.each([true, false])(
    'logs a membership that is reverted during the comparison (was a member: %s)',
    async wasMember => {
      const directory = new TestDirectory();
      const { graph } = directory.tables.groups;
      const setMember = (isMember: boolean) =>
        directory.setGroup('staff', isMember ? [userKey('alice')] : []);
      directory.setUser('alice');
      setMember(wasMember);
      const writer = await startWriter(directory);
      await directory.confirm();

      // The group is written after it was compared, and before its member.
      const { directGroupsOf } = graph;
      const compared = new Promise<void>(resolve => {
        jest.spyOn(graph, 'directGroupsOf').mockImplementationOnce(key => {
          setMember(!wasMember);
          resolve();
          return directGroupsOf.call(graph, key);
        });
      });
      directory.setUser('alice', { pronouns: ['x'] });
      writer.onConfirmed({ ...directory.sync, requestedAt: performance.now() });
      await compared;
      setMember(wasMember);
      await directory.confirm();
      const changes = [
        'member_added staff alice',
        'member_removed staff alice',
      ];
      expect(await lines()).toEqual([
        'user_changed alice',
        ...(wasMember ? changes.reverse() : changes),
      ]);
    },
  );

  it('logs a new user with the name of a deleted user as another user', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { uniqueId: '1' });
    await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { uniqueId: '2' });
    await directory.confirm();
    expect(await lines()).toEqual(['user_deleted alice', 'user_created alice']);
    const [deleted, created] = await readChanges();
    expect(deleted.present_name).toBeNull();
    expect(created.present_name).toBe('alice');
  });

  it('does not log changes of hidden fields, nor store values', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice', { is_private: true, emails: ['Marker'] });
    directory.setUser('bob', { is_private: true, emails: ['Marker'] });
    await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', {
      is_private: true,
      emails: ['Marker'],
      surname: 'Marker',
    });
    await directory.confirm();
    expect(await lines()).toEqual([]);
    const client = await database.getClient();
    const rows = await client('directory_known_entries');
    expect(JSON.stringify(rows)).not.toContain('Marker');
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(2);
  });

  it('starts another log without changes when the definition of entries changes', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    directory.setGroup('staff');
    const writer = await startWriter(directory);
    await directory.confirm();
    directory.setGroup('staff', [userKey('alice')]);
    await directory.confirm();
    await stopWriter(directory, writer);
    const log = await openLog();
    const before = await log.state();
    const joined = await log.joinTimesOf('staff');
    expect([...joined.keys()]).toEqual(['alice']);

    directory.setUser('bob');
    await startWriter(directory, { log: await openLog('other') });
    await directory.confirm();
    const after = await log.state();
    expect(after).toMatchObject({ first: 1, last: 1, isWritten: true });
    expect(after.logId).not.toBe(before.logId);
    expect(await log.joinTimesOf('staff')).toEqual(joined);
  });

  it('reverts no removal on a server that lags behind, not even after restarts', async () => {
    const directory = new TestDirectory();
    const members = [userKey('alice'), userKey('bob')];
    directory.setUser('alice');
    directory.setUser('bob');
    directory.setUser('carol');
    directory.setGroup('staff', members);
    let writer = await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { locked: true });
    directory.setGroup('staff', [userKey('bob')]);
    directory.delete(userKey('carol'));
    await directory.confirm();
    await directory.confirm();
    const expected = [
      'user_deleted carol',
      'user_locked alice',
      'member_removed staff alice',
    ];
    expect(await lines()).toEqual(expected);

    // The second server lacks all of it, and bob is removed there.
    directory.sync = { ...directory.sync, server: 'ldaps://two', value: '1' };
    directory.setUser('alice');
    directory.setUser('carol', { pronouns: ['x'] });
    directory.setGroup('staff', members);
    await directory.confirm();
    expect(await lines()).toEqual(expected);
    directory.setGroup('staff', [userKey('alice')]);
    for (let restart = 0; restart < 2; restart++) {
      await directory.confirm();
      await stopWriter(directory, writer);
      writer = await startWriter(directory);
    }
    await directory.confirm();
    expected.push('member_removed staff bob');
    expect(await lines()).toEqual(expected);

    // It has caught up with the locked user only, and time passes.
    directory.setUser('alice', { locked: true });
    await directory.confirm();
    await stopWriter(directory, writer);
    await startWriter(directory, { catchUpMs: 0 });
    await directory.confirm();
    expect((await lines()).slice(expected.length)).toEqual([
      'user_created carol',
      'member_added staff alice',
    ]);
  });

  it('reverts no recent addition on a server that lags behind', async () => {
    const directory = new TestDirectory();
    const bob = userKey('bob');
    const alice = userKey('alice');
    directory.setUser('alice', { locked: true });
    directory.setUser('bob');
    directory.setGroup('staff', [bob]);
    let writer = await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice');
    directory.setUser('carol');
    directory.setGroup('crew', [userKey('carol')]);
    directory.setGroup('hidden', [alice], { served: false });
    directory.setGroup('staff', [bob, groupKey('hidden')]);
    await directory.confirm();
    const expected = await lines();
    expect(expected).toEqual([
      'user_unlocked alice',
      'user_created carol',
      'group_created crew',
      'member_added staff alice',
      'member_added crew carol',
    ]);

    // The second server lacks all of it, and bob is removed there.
    directory.sync = { ...directory.sync, server: 'ldaps://two', value: '1' };
    directory.setUser('alice', { locked: true });
    [userKey('carol'), groupKey('crew'), groupKey('hidden')].forEach(key =>
      directory.delete(key),
    );
    directory.setGroup('staff');
    for (let restart = 0; restart < 2; restart++) {
      await directory.confirm();
      await stopWriter(directory, writer);
      writer = await startWriter(directory);
    }
    expected.push('member_removed staff bob');
    await directory.confirm();
    expect(await lines()).toEqual(expected);

    // The first server writes again.
    const { sync } = directory;
    directory.sync = { ...sync, server: 'ldaps://one', value: '9' };
    directory.setUser('alice');
    directory.setUser('carol');
    directory.setGroup('crew', [userKey('carol')]);
    directory.setGroup('hidden', [alice], { served: false });
    directory.setGroup('staff', [groupKey('hidden')]);
    await directory.confirm();
    expect(await lines()).toEqual(expected);

    // The changes are made on the second server, and time passes.
    directory.sync = { ...sync, value: '9' };
    directory.setUser('alice', { locked: true });
    [userKey('carol'), groupKey('hidden')].forEach(key =>
      directory.delete(key),
    );
    directory.setGroup('crew');
    await directory.confirm();
    expect(await lines()).toEqual(expected);
    await stopWriter(directory, writer);
    await startWriter(directory, { catchUpMs: 0 });
    await directory.confirm();
    expect((await lines()).slice(expected.length)).toEqual([
      'user_deleted carol',
      'user_locked alice',
      'member_removed staff alice',
    ]);
  });

  it('records only what a server removes that is at an earlier position', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    directory.setUser('bob');
    const writer = await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { emails: ['new@example.test'] });
    await directory.confirm();
    const expected = ['user_changed alice'];
    expect(await lines()).toEqual(expected);
    await stopWriter(directory, writer);

    // Another process has older data, from before the last write or a backup.
    const { sync } = directory;
    directory.sync = { ...sync, value: '-9' };
    directory.setUser('alice', { locked: true });
    directory.delete(userKey('bob'));
    directory.setUser('carol');
    await startWriter(directory);
    await directory.confirm();
    expected.push('user_deleted bob', 'user_locked alice');
    expect(await lines()).toEqual(expected);

    directory.setUser('alice', { locked: true, emails: ['new@example.test'] });
    directory.sync = sync;
    await directory.confirm();
    expect(await lines()).toEqual([...expected, 'user_created carol']);
  });

  it('records all differences of a restored server after 30 seconds', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    await startWriter(directory);
    await directory.confirm();
    directory.setUser('bob');
    await directory.confirm();
    const expected = ['user_created bob'];

    directory.sync = { ...directory.sync, value: '-9' };
    directory.delete(userKey('bob'));
    directory.setUser('alice', { emails: ['new@example.test'] });
    await directory.confirm();
    expect(await lines()).toEqual(expected);
    const elapsed = performance.now() + 31_000;
    jest.spyOn(performance, 'now').mockReturnValue(elapsed);
    await directory.confirm();
    expect(await lines()).toEqual([
      ...expected,
      'user_deleted bob',
      'user_changed alice',
    ]);
  });

  it('logs deletions at once when a server gets positions', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    const writer = await startWriter(directory);
    writer.onConfirmed({
      server: directory.sync.server,
      value: undefined,
      requestedAt: performance.now(),
    });
    await writer.idle();
    directory.delete(userKey('alice'));
    await directory.confirm();
    expect(await lines()).toEqual(['user_deleted alice']);
  });

  it('appends only after a sync that follows writes during the comparison', async () => {
    const directory = new TestDirectory();
    const writer = await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice');
    directory.sync = { ...directory.sync, value: '10' };
    writer.onConfirmed(directory.sync);
    directory.setUser('bob');
    directory.sync = { ...directory.sync, value: '20' };
    writer.onConfirmed(directory.sync);
    await writer.idle();
    expect((await readChanges()).map(({ position }) => position.value)).toEqual(
      ['20', '20'],
    );
  });

  it('appends nothing that was compared with two servers, without a warning', async () => {
    const directory = new TestDirectory();
    const logger = new RecordingLogger();
    const writer = await startWriter(directory, { logger });
    await directory.confirm();
    directory.setUser('alice');
    writer.onConfirmed(directory.sync);
    directory.setUser('bob');
    directory.sync = { ...directory.sync, server: 'ldaps://two' };
    await directory.confirm();
    expect(await lines()).toEqual([]);
    expect(logger.lines).toEqual([
      'info The change log compares all entries after a switch to another server',
    ]);
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
    await expireLease();
    const log = await openLog();
    await log.release((await log.acquire())!);
    directory.setUser('carol');
    first.onWrite({
      keys: [userKey('carol')],
      ids: [userKey('carol')],
    });
    first.onConfirmed(directory.sync);
    await first.idle();
    expect(await lines()).toEqual(['user_created bob']);

    await stopWriter(directory, second);
    await startWriter(directory);
    await directory.confirm();
    expect(await lines()).toEqual(['user_created bob', 'user_created carol']);
  });

  it('holds the lease until the next sync, also between full syncs', async () => {
    const directory = new TestDirectory();
    const log = await openLog();
    const writer = await startWriter(directory, { log });
    const client = await database.getClient();
    const leaseMs = async () => {
      const row = await client('directory_change_writer').first('expires_at');
      return Number(new Date(row.expires_at)) - Date.now();
    };
    const sync = { ...directory.sync, requestedAt: performance.now() };
    writer.onConfirmed({ ...sync, value: undefined });
    await writer.idle();
    expect(await leaseMs()).toBeGreaterThan(120_000);
    await expireLease();
    const elapsed = performance.now() + 6000;
    jest.spyOn(performance, 'now').mockReturnValue(elapsed);
    await directory.confirm();
    expect(await leaseMs()).toBeGreaterThan(5000);
    await stopWriter(directory, writer);
    expect(await log.state()).toMatchObject({ isWritten: false });
  });

  it('appends changes that a failed database missed', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    const logger = new RecordingLogger();
    const log = await openLog();
    const append = jest
      .spyOn(log, 'append')
      .mockRejectedValueOnce(new Error('no database'));
    const writer = await startWriter(directory, { log, logger });
    await directory.confirm();
    expect(append).toHaveBeenCalledTimes(1);
    expect(logger.lines.join('\n')).toContain(
      'The change log cannot be written',
    );
    await stopWriter(directory, writer);
    await startWriter(directory, { log, logger });
    await directory.confirm();
    directory.setUser('bob');
    await directory.confirm();
    expect(await lines()).toEqual(['user_created bob']);
  });

  it('deletes old changes, and those of deleted users earlier', async () => {
    const directory = new TestDirectory();
    directory.setUser('alice');
    directory.setUser('bob');
    directory.setGroup('staff', [userKey('alice'), userKey('bob')]);
    const writer = await startWriter(directory);
    await directory.confirm();
    directory.setUser('alice', { locked: true });
    directory.setGroup('staff', []);
    await directory.confirm();
    directory.delete(userKey('alice'));
    await directory.confirm();
    await stopWriter(directory, writer);
    const log = await openLog();
    const lease = (await log.acquire())!;
    await log.prune(lease, 90 * DAY_MS);
    expect(await lines()).toHaveLength(4);
    const client = await database.getClient();
    const time = new Date(Date.now() - 40 * DAY_MS);
    await client('directory_change_events').update({ time });
    await log.prune(lease, 90 * DAY_MS);
    expect(await lines()).toEqual(['member_removed staff bob']);
    // A client that has not read the deletion must read everything again.
    expect(await log.state()).toMatchObject({ first: 4, last: 4 });
    await log.prune(lease, 39 * DAY_MS);
    expect(await lines()).toEqual([]);
  });

  it.each(['stable IDs', 'names'])(
    'reproduces a directory whose keys are %s from the log after any changes, restarts and takeovers',
    async keys => {
      await fc.assert(
        fc
          .asyncProperty(
            fc.array(operation, { minLength: 1, maxLength: 60 }),
            async operations => {
              const { ids, state, expected } = await replay(operations, {
                isStable: keys === 'stable IDs',
              });
              expect(state).toEqual(expected);
              expect(ids).toEqual(ids.map((_id, index) => index + 1));
            },
          )
          .beforeEach(clear),
        { numRuns: 15 * Number(process.env.RUNS || 1) },
      );
    },
    600_000,
  );
});
