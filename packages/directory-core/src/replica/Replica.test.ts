import assert from 'node:assert';
import { eventually } from '../__testUtils__/eventually';
import { createGuard } from '../__testUtils__/MemoryGuardRecords';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { DirectoryUnavailableError } from '../directory/errors';
import { Replica, type ReplicaOptions } from './Replica';
import type { OnBatch, ReplicaSource } from './sync/ReplicaSource';
import {
  type EntryRef,
  type ReadEntry,
  type ReplicaBatch,
  type ReplicaKind,
  replicaKinds,
} from './tables/entries';

jest.setTimeout(180_000);

/** A directory whose entries, positions and failures the test controls. */
class TestSource implements ReplicaSource {
  server = 'ldap://one';
  value: number | undefined = 1;
  polls = 0;
  idLists = 0;
  /** Number of full syncs. */
  syncs = 0;
  /** Entries by kind and stable ID. */
  readonly entries = {
    users: new Map<string, ReadEntry>(),
    groups: new Map<string, ReadEntry>(),
    agreements: new Map<string, ReadEntry>(),
  };
  /** Entries that the next call of `changes` returns. */
  written: EntryRef[] = [];
  gone: EntryRef[] = [];
  complete = true;
  /** Entries that changed without a new position. */
  changed: EntryRef[] = [];
  /** Entries that were read by stable ID. */
  readonly reread: string[] = [];
  lacksRight = false;

  position: ReplicaSource['position'] = async () => {
    this.polls++;
    return {
      server: this.server,
      value: this.value === undefined ? undefined : String(this.value),
      requestedAt: performance.now(),
    };
  };

  compare: ReplicaSource['compare'] = (from, to) => {
    if (from.server !== to.server) {
      return 'other';
    }
    const [before, after] = [Number(from.value), Number(to.value)];
    if (after < before) {
      return 'earlier';
    }
    return before === after ? 'same' : 'later';
  };

  changes: ReplicaSource['changes'] = async (_from, _to, onBatch) => {
    const { written, gone, complete } = this;
    this.written = [];
    this.gone = [];
    await this.#give(written, onBatch);
    return { gone, complete };
  };

  ids: ReplicaSource['ids'] = async () => {
    this.idLists++;
    return this.#ids();
  };

  readRecent: ReplicaSource['readRecent'] = async (_server, onBatch) => {
    await this.#give(this.changed, onBatch);
  };

  readAll: ReplicaSource['readAll'] = async onBatch => {
    for (const kind of replicaKinds) {
      const ids = [...this.entries[kind].keys()];
      await this.#give(
        ids.map(id => ({ kind, id })),
        onBatch,
      );
    }
    this.syncs++;
    return this.#ids();
  };

  readAllThrottled: ReplicaSource['readAllThrottled'] = onBatch =>
    this.readAll(onBatch);

  readEntries: ReplicaSource['readEntries'] = async (
    _server,
    refs,
    onBatch,
  ) => {
    this.reread.push(...refs.map(({ id }) => id));
    return await this.#give(refs, onBatch);
  };

  verifyAccess: ReplicaSource['verifyAccess'] = async () => {
    if (this.lacksRight) {
      throw new Error('The account lacks a right');
    }
  };

  /** Adds or replaces an entry; a later position shows it. */
  write(kind: ReplicaKind, read: Omit<ReadEntry, 'createdAt'>): void {
    this.entries[kind].set(read.id, read);
    this.written.push({ kind, id: read.id });
    this.value!++;
  }

  addUser(username: string, id = `id-${username}`): void {
    this.write('users', {
      id,
      key: `uid=${username}`,
      entry: { user: { username }, uniqueId: id },
    });
  }

  addGroup(groupname: string, members: readonly string[]): void {
    this.setGroup(groupname, members);
    this.written.push({ kind: 'groups', id: `id-${groupname}` });
    this.value!++;
  }

  /** Adds or replaces a group without a new position. */
  setGroup(groupname: string, members: readonly string[]): void {
    const id = `id-${groupname}`;
    this.entries.groups.set(id, {
      id,
      key: `cn=${groupname}`,
      entry: { group: { groupname }, members, sponsors: [], uniqueId: id },
    });
  }

  #ids() {
    const { server, entries } = this;
    return {
      server,
      users: new Set(entries.users.keys()),
      groups: new Set(entries.groups.keys()),
      agreements: new Set(entries.agreements.keys()),
    };
  }

  async #give(refs: readonly EntryRef[], onBatch: OnBatch) {
    const found = {
      users: new Set<string>(),
      groups: new Set<string>(),
      agreements: new Set<string>(),
    };
    for (const { kind, id } of refs) {
      const read = this.entries[kind].get(id);
      if (read) {
        found[kind].add(id);
        await onBatch({ kind, entries: [read] } as ReplicaBatch);
      }
    }
    return found;
  }
}

let source: TestSource;
let logger: RecordingLogger;
let replica: Replica;

function open(options: Partial<ReplicaOptions> = {}): void {
  logger = new RecordingLogger();
  replica = new Replica({
    source,
    logger,
    maxStalenessMs: 60_000,
    guard: createGuard(),
    pollMs: 10,
    ...options,
  });
  replica.follow();
}

const usersOf = () =>
  replica.tables.users.served.inOrder.map(({ name }) => name);
const groupsOf = (username: string) => [
  ...replica.tables.groups.graph.groupsOf(`uid=${username}`),
];

/** Waits until the replica has polled a number of times. */
async function untilPolled(times: number): Promise<void> {
  const { polls } = source;
  await eventually(() => assert(source.polls > polls + times));
}

beforeEach(() => {
  source = new TestSource();
  for (const username of ['alice', 'bob', 'carol']) {
    source.addUser(username);
  }
  source.addGroup('staff', ['uid=alice', 'uid=bob']);
  source.addGroup('other', []);
  source.written = [];
});
afterEach(() => replica.stop());

describe('Replica', () => {
  beforeEach(async () => {
    open();
    await eventually(() => assert(replica.isServing));
  });

  it('reads what was written since its position', async () => {
    source.addUser('dave');
    await eventually(() => expect(usersOf()).toContain('dave'));
    expect(source.idLists).toBe(0);
  });

  it('renames an entry in one step, in groups that still name it', async () => {
    const states = new Set<string>();
    replica.observe({
      onWrite: () =>
        void states.add(
          `${usersOf().join()} ${groupsOf('alice')} ${groupsOf('alicia')}`,
        ),
      onConfirmed() {},
    });
    source.addUser('alicia', 'id-alice');
    await eventually(() => expect(usersOf()).toContain('alicia'));
    expect([...states]).toEqual(['alicia,bob,carol  cn=staff']);
    // The group is read again with the former name.
    source.addGroup('staff', ['uid=alice', 'uid=carol']);
    await eventually(() => expect(groupsOf('carol')).toEqual(['cn=staff']));
    expect(groupsOf('alicia')).toEqual(['cn=staff']);
  });

  it('does not count another user with a former name as a member', async () => {
    source.addUser('alicia', 'id-alice');
    await eventually(() => expect(usersOf()).toContain('alicia'));
    // The server has rewritten the link, without a new position.
    source.setGroup('staff', ['uid=alicia', 'uid=bob']);
    source.addUser('alice', 'id-other');
    await eventually(() => expect(usersOf()).toContain('alice'));
    await eventually(() => expect(groupsOf('alicia')).toEqual(['cn=staff']));
    expect(groupsOf('alice')).toEqual([]);
  });

  it('does not count a new user with the name of a deleted member', async () => {
    source.addUser('alicia', 'id-alice');
    await eventually(() => expect(usersOf()).toContain('alicia'));
    source.entries.users.delete('id-alice');
    source.gone.push({ kind: 'users', id: 'id-alice' });
    source.value!++;
    await eventually(() => expect(usersOf()).not.toContain('alicia'));
    // The group still names the former name of the deleted user.
    source.addGroup('staff', ['uid=alice', 'uid=bob']);
    source.addUser('alicia', 'id-new');
    await eventually(() => expect(usersOf()).toContain('alicia'));
    await eventually(() => expect(groupsOf('alicia')).toEqual([]));
    expect(groupsOf('bob')).toEqual(['cn=staff']);
  });

  it('reads groups again that link to a renamed user', async () => {
    source.addUser('alicia', 'id-alice');
    await eventually(() => expect(usersOf()).toContain('alicia'));
    // The server removes the link later, without a new position.
    source.setGroup('staff', ['uid=bob']);
    await eventually(() => expect(groupsOf('alicia')).toEqual([]));
    expect(source.reread).toContain('id-staff');
  });

  it('replaces an entry that was recreated under the same name', async () => {
    source.entries.users.delete('id-bob');
    source.addUser('bob', 'id-new');
    await eventually(() =>
      expect(replica.tables.users.keyOf('id-new')).toBe('uid=bob'),
    );
    expect(replica.tables.users.keyOf('id-bob')).toBeUndefined();
    expect(usersOf()).toEqual(['alice', 'bob', 'carol']);
  });

  it('removes an unreadable user who is no longer a member of a changed group', async () => {
    source.entries.users.delete('id-alice');
    // Both users lose the membership; bob still exists.
    source.addGroup('staff', []);
    await eventually(() => expect(usersOf()).toEqual(['bob', 'carol']));
    expect(source.idLists).toBe(0);
  });

  it.each([
    [
      'of a group member',
      () => {
        const { readEntries } = source;
        source.readEntries = (...args) => {
          source.readEntries = readEntries;
          // Users were read before the group.
          source.addUser('alicia', 'id-alice');
          source.entries.users.delete('id-bob');
          return readEntries(...args);
        };
        source.addGroup('staff', ['uid=alice']);
      },
    ],
    [
      'that only a comparison finds',
      () => {
        const { ids } = source;
        source.ids = () => {
          source.ids = ids;
          source.addUser('alicia', 'id-alice');
          source.entries.users.delete('id-bob');
          return ids();
        };
        source.complete = false;
        source.value!++;
      },
    ],
  ])(
    'does not show a deletion %s without earlier changes',
    async (_, change) => {
      const states = new Set<string>();
      replica.observe({
        onWrite: () => queueMicrotask(() => states.add(usersOf().join())),
        onConfirmed() {},
      });
      change();
      await eventually(() => expect(usersOf()).toEqual(['alicia', 'carol']));
      expect([...states]).not.toContain('alice,carol');
    },
  );

  it('removes a group that a changed user is no longer in', async () => {
    source.entries.groups.delete('id-staff');
    source.write('users', {
      ...source.entries.users.get('id-alice')!,
      memberOf: new Set(['cn=other']),
    });
    await eventually(() => expect(replica.tables.groups.size).toBe(1));
    expect(source.idLists).toBe(0);
  });

  it('removes entries that the source reports as gone', async () => {
    source.entries.users.delete('id-bob');
    source.gone = [{ kind: 'users', id: 'id-bob' }];
    source.value!++;
    await eventually(() => expect(usersOf()).toEqual(['alice', 'carol']));
  });

  it('keeps an entry that a search has missed', async () => {
    source.gone = [{ kind: 'users', id: 'id-bob' }];
    source.value!++;
    await eventually(() => expect(source.gone).toEqual([]));
    await untilPolled(2);
    expect(usersOf()).toEqual(['alice', 'bob', 'carol']);
    expect(source.reread).toEqual(['id-bob']);
  });

  it('compares stable IDs while the changes are not complete', async () => {
    source.entries.users.delete('id-carol');
    source.complete = false;
    source.value!++;
    await eventually(() => expect(usersOf()).toEqual(['alice', 'bob']));
    expect(source.idLists).toBe(1);
  });

  it('deletes nothing while the account lacks a right', async () => {
    source.lacksRight = true;
    source.entries.users.delete('id-bob');
    source.gone = [{ kind: 'users', id: 'id-bob' }];
    source.complete = false;
    source.value!++;
    await untilPolled(5);
    expect(usersOf()).toEqual(['alice', 'bob', 'carol']);
  });

  it('reads entries that a comparison finds and the tables lack', async () => {
    source.entries.users.set('id-eve', {
      id: 'id-eve',
      key: 'uid=eve',
      entry: { user: { username: 'eve' }, uniqueId: 'id-eve' },
    });
    source.complete = false;
    source.value!++;
    await eventually(() => expect(usersOf()).toContain('eve'));
  });

  it('corrects entries that a comparison finds changed', async () => {
    source.entries.users.set('id-bob', {
      id: 'id-bob',
      key: 'uid=bob',
      entry: {
        user: { username: 'bob', is_private: true },
        uniqueId: 'id-bob',
      },
    });
    source.changed = [{ kind: 'users', id: 'id-bob' }];
    source.complete = false;
    source.value!++;
    await eventually(() =>
      expect(replica.tables.users.served.get('uid=bob')?.record).toMatchObject({
        is_private: true,
      }),
    );
  });

  it('compares stable IDs after reads were suspended', async () => {
    source.entries.users.delete('id-carol');
    replica.suspend('credentials', 'The directory refused the account');
    expect(replica.isServing).toBe(false);
    await eventually(() => assert(replica.isServing));
    expect(usersOf()).toEqual(['alice', 'bob']);
  });

  it('resumes reads only after a comparison that did not fail', async () => {
    let failures = 0;
    const list = source.ids;
    source.ids = async () => {
      if (failures++ < 2) {
        throw new Error('The connection was closed');
      }
      return await list();
    };
    source.entries.users.delete('id-carol');
    replica.suspend('credentials', 'The directory refused the account');
    await eventually(() => assert(replica.isServing));
    expect(usersOf()).toEqual(['alice', 'bob']);
  });

  it('reads everything again when the position goes back', async () => {
    source.entries.users.delete('id-carol');
    source.value = 0;
    await eventually(() => expect(usersOf()).toEqual(['alice', 'bob']));
    expect(source.syncs).toBe(2);
  });
});

it('stays suspended until a comparison of all entries succeeds, which corrects them', async () => {
  open({ checkIntervalMs: 20 });
  await eventually(() => assert(replica.isServing));
  const { readAllThrottled } = source;
  source.readAllThrottled = async () => {
    throw new DirectoryUnavailableError('A right is missing', {
      reason: 'accessCheck',
    });
  };
  await eventually(() =>
    expect(replica.status).toMatchObject({ reason: 'accessCheck' }),
  );
  await untilPolled(3);
  expect(replica.isServing).toBe(false);
  // Changed while it was unreadable, without a new position.
  source.setGroup('staff', ['uid=carol']);
  source.readAllThrottled = readAllThrottled;
  await eventually(() => assert(replica.isServing));
  expect(groupsOf('carol')).toEqual(['cn=staff']);
});

it('compares stable IDs after a poll that failed', async () => {
  open();
  await eventually(() => assert(replica.isServing));
  source.entries.users.delete('id-carol');
  const { position } = source;
  source.position = async () => {
    source.position = position;
    throw new Error('The connection was closed');
  };
  await eventually(() => expect(usersOf()).toEqual(['alice', 'bob']));
});

it('keeps stricter values for a time after a switch to another server', async () => {
  open({ holdMs: 500 });
  await eventually(() => assert(replica.isServing));
  // The other server lags behind: it still has the user, and a member.
  source.addUser('dave');
  source.addGroup('staff', ['uid=alice', 'uid=bob', 'uid=carol']);
  source.written = [];
  source.server = 'ldap://two';
  await eventually(() => expect(replica.server).toBe('ldap://two'));
  expect(groupsOf('carol')).toEqual([]);
  expect(usersOf()).toEqual(['alice', 'bob', 'carol']);
  expect(replica.stricter.isActive).toBe(true);
  await eventually(() => expect(groupsOf('carol')).toEqual(['cn=staff']));
  expect(usersOf()).toContain('dave');
  expect(replica.stricter.isActive).toBe(false);
});

it('keeps no stricter values when the same server hides its positions', async () => {
  source.compare = (from, to) => (from.value === to.value ? 'same' : 'other');
  open();
  await eventually(() => assert(replica.isServing));
  source.setGroup('staff', ['uid=alice', 'uid=bob', 'uid=carol']);
  source.value = undefined;
  await eventually(() => expect(groupsOf('carol')).toEqual(['cn=staff']));
  expect(replica.stricter.isActive).toBe(false);
});

it('follows a server without positions by full syncs', async () => {
  source.value = undefined;
  open({ syncIntervalMs: 20 });
  await eventually(() => assert(replica.isServing));
  expect(replica.mode).toBe('full');
  source.entries.users.delete('id-carol');
  await eventually(() => expect(usersOf()).toEqual(['alice', 'bob']));
});

it('releases stricter values of a server without positions', async () => {
  source.value = undefined;
  open({ syncIntervalMs: 20, holdMs: 500 });
  await eventually(() => assert(replica.isServing));
  source.addGroup('staff', ['uid=alice', 'uid=bob', 'uid=carol']);
  source.value = undefined;
  source.server = 'ldap://two';
  await eventually(() => expect(replica.server).toBe('ldap://two'));
  expect(groupsOf('carol')).toEqual([]);
  await eventually(() => expect(groupsOf('carol')).toEqual(['cn=staff']));
});

it('suspends reads as soon as too many entries are deleted', async () => {
  for (let index = 0; index < 100; index++) {
    source.addUser(`user${index}`);
  }
  source.written = [];
  open();
  await eventually(() => assert(replica.isServing));
  const remove = (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      const id = `id-user${index}`;
      source.entries.users.delete(id);
      source.gone.push({ kind: 'users', id });
    }
    source.value!++;
  };
  remove(0, 20);
  await eventually(() => expect(usersOf()).toHaveLength(83));
  expect(replica.isServing).toBe(true);
  const removed = source.entries.users.get('id-user20')!;
  remove(20, 21);
  await eventually(() =>
    expect(replica.status).toMatchObject({
      reason: 'quarantine',
      message: expect.stringContaining(
        '82 users and 2 groups, after 103 and 2',
      ),
    }),
  );
  await untilPolled(2);
  expect(replica.status).toMatchObject({ reason: 'quarantine' });
  // The guard decided before the user was deleted.
  expect(usersOf()).toContain('user20');
  // The last deleted user is added again.
  source.entries.users.set('id-user20', removed);
  replica.retry();
  await eventually(() => assert(replica.isServing));
});

it('keeps memberships when too many members are deleted at once', async () => {
  const names = Array.from({ length: 600 }, (_, index) => `user${index}`);
  names.forEach(name => source.addUser(name));
  source.addGroup(
    'staff',
    names.map(name => `uid=${name}`),
  );
  source.written = [];
  open();
  await eventually(() => assert(replica.isServing));
  names.forEach(name => source.entries.users.delete(`id-${name}`));
  source.addGroup('staff', []);
  await eventually(() =>
    expect(replica.status).toMatchObject({ reason: 'quarantine' }),
  );
  expect(groupsOf('user0')).toEqual(['cn=staff']);
});

it.each([
  [60, 400],
  [15, 20],
])(
  'keeps %i of %i entries that reads miss but the directory lists',
  async (count, total) => {
    const names = Array.from({ length: total }, (_, index) => `user${index}`);
    names.forEach(name => source.addUser(name));
    source.written = [];
    open();
    await eventually(() => assert(replica.isServing));
    const lists = source.idLists;
    const { readEntries } = source;
    source.readEntries = async (server, refs) =>
      await readEntries
        .call(source, server, refs, () => {})
        .then(found => ({
          ...found,
          users: new Set<string>(),
        }));
    source.gone = names
      .slice(0, count)
      .map(name => ({ kind: 'users', id: `id-${name}` }));
    source.value!++;
    await eventually(() => assert(source.idLists > lists + 1));
    expect(usersOf()).toHaveLength(total + 3);
    source.readEntries = readEntries;
    const reads = source.reread.length;
    await eventually(() => assert(source.reread.length > reads));
    await untilPolled(2);
    expect(replica.isServing).toBe(true);
    expect(usersOf()).toHaveLength(total + 3);
  },
);

it('suspends reads when too many listed entries stop being replicated', async () => {
  for (let index = 0; index < 20; index++) {
    source.addUser(`user${index}`);
  }
  source.written = [];
  open();
  await eventually(() => assert(replica.isServing));
  for (let index = 0; index < 20; index++) {
    const id = `id-user${index}`;
    source.write('users', { id, key: `uid=user${index}`, entry: undefined });
  }
  await eventually(() =>
    expect(replica.status).toMatchObject({
      reason: 'quarantine',
      message: expect.stringContaining('3 users and 2 groups'),
    }),
  );
  expect(usersOf()).toHaveLength(23);
});

it('does not delete what the guard rejected when the server is restored', async () => {
  for (let index = 0; index < 20; index++) {
    source.addUser(`user${index}`);
  }
  source.written = [];
  for (const [id, read] of source.entries.users) {
    source.entries.users.set(id, { ...read, createdAt: new Date(0) });
  }
  open();
  await eventually(() => assert(replica.isServing));
  const users = [...source.entries.users];
  // Fewer than are left to a comparison, after an access check that failed.
  replica.suspend('accessCheck', 'The account lacks a right');
  source.gone = users.map(([id]) => ({ kind: 'users', id }));
  source.entries.users.clear();
  source.value!++;
  await eventually(() =>
    expect(replica.status).toMatchObject({ reason: 'quarantine' }),
  );
  users.forEach(([id, user]) => source.entries.users.set(id, user));
  source.value = 0;
  replica.retry();
  await eventually(() => assert(replica.isServing));
  expect(usersOf()).toHaveLength(users.length);
});

it('ends former names after ten minutes without positions, too', async () => {
  let offsetMs = 0;
  const { now } = performance;
  jest
    .spyOn(performance, 'now')
    .mockImplementation(() => now.call(performance) + offsetMs);
  try {
    source.value = undefined;
    open({ syncIntervalMs: 20 });
    await eventually(() => assert(replica.isServing));
    source.entries.users.set('id-alice', {
      id: 'id-alice',
      key: 'uid=alicia',
      entry: { user: { username: 'alicia' }, uniqueId: 'id-alice' },
    });
    await eventually(() => expect(groupsOf('alicia')).toEqual(['cn=staff']));
    // Between two syncs: a sync of ten minutes would delay the next one.
    const { position } = source;
    source.position = async () => {
      offsetMs = 10 * 60_000;
      return await position();
    };
    await eventually(() => expect(groupsOf('alicia')).toEqual([]));
  } finally {
    jest.restoreAllMocks();
  }
});

it('keeps stricter values after the guard rejected deletions of another server', async () => {
  for (let index = 0; index < 20; index++) {
    source.addUser(`user${index}`);
  }
  source.written = [];
  open();
  await eventually(() => assert(replica.isServing));
  const users = [...source.entries.users];
  source.entries.users.clear();
  source.complete = false;
  source.value!++;
  await eventually(() =>
    expect(replica.status).toMatchObject({ reason: 'quarantine' }),
  );
  users.forEach(([id, user]) => source.entries.users.set(id, user));
  source.setGroup('staff', ['uid=alice', 'uid=bob', 'uid=carol']);
  source.complete = true;
  source.server = 'ldap://two';
  replica.retry();
  await eventually(() => assert(replica.isServing));
  expect(replica.server).toBe('ldap://two');
  expect(groupsOf('carol')).toEqual([]);
  expect(replica.stricter.isActive).toBe(true);
});
