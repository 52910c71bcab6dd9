import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { type CallerContext, PrincipalSet } from '../directory/Caller';
import { PrivateDirectory } from '../directory/PrivateDirectory';
import { publicKeyId } from '../directory/publicKeys';
import { type UserField, userFieldNames } from '../directory/schema';
import { emptyUser, type User } from '../directory/records';
import { ReplicaDirectory } from './ReplicaDirectory';
import { ReplicaState } from './sync/ReplicaState';
import { ReplicaTables } from './tables/ReplicaTables';

const PEOPLE = 1200;

/** Returns a user with all fields, as in the replica. */
function person(number: number, known: Partial<User> = {}) {
  const username = `user${String(number).padStart(4, '0')}`;
  return {
    key: `uid=${username}`,
    entry: { user: { ...emptyUser(), username, ...known } as User },
  };
}

const everyone = {
  from: { kind: 'all' },
  fields: new Set(userFieldNames),
} as const;
const context = { signal: new AbortController().signal };

let tables: ReplicaTables;
let state: ReplicaState;
let directory: ReplicaDirectory;

const put = (number: number, known?: Partial<User>) => {
  const { key, entry } = person(number, known);
  tables.users.set(key, entry);
};

beforeEach(() => {
  tables = new ReplicaTables();
  state = new ReplicaState({
    maxStalenessMs: 60_000,
    logger: new RecordingLogger(),
  });
  directory = new ReplicaDirectory({
    gate: state,
    tables,
    keyOf: dn => dn,
  });
});

describe('ReplicaDirectory.streamUsers', () => {
  beforeEach(() => {
    for (let number = 0; number < PEOPLE; number++) {
      put(number, { is_private: true });
    }
  });

  /** Starts reading a stream of all users. */
  async function startStream(signal = context.signal) {
    const stream = await directory.streamUsers(everyone, { signal });
    return stream!.batches[Symbol.asyncIterator]();
  }

  it.each([true, false])(
    'returns the users as of its start (unlocked only: %s)',
    async unlockedOnly => {
      state.confirm(performance.now());
      const stream = await directory.streamUsers(
        { ...everyone, unlockedOnly },
        context,
      );
      const seen: User[] = [];
      for await (const users of stream!.batches) {
        seen.push(...users);
        // As after a sync with a server that hides the flag.
        for (let number = 0; number < PEOPLE; number += 7) {
          put(number);
        }
        tables.users.delete(person(PEOPLE - 1).key);
        put(PEOPLE, { is_private: true });
      }
      expect(stream!.total).toBe(PEOPLE);
      expect(seen.map(({ username }) => username)).toEqual(
        Array.from({ length: PEOPLE }, (_, n) => person(n).entry.user.username),
      );
      expect(seen.filter(user => !user.is_private)).toHaveLength(0);
    },
  );

  it('ends when the caller disconnects', async () => {
    state.confirm(performance.now());
    const caller = new AbortController();
    const stream = await startStream(caller.signal);
    expect((await stream.next()).value.length).toBeLessThan(PEOPLE);
    caller.abort();
    await expect(stream.next()).rejects.toThrow('aborted');
  });

  it('ends at the next batch after a suspension', async () => {
    state.confirm(performance.now());
    const stream = await startStream();
    expect((await stream.next()).done).toBe(false);
    state.suspend('accessCheck', 'unreadable');
    await expect(stream.next()).rejects.toMatchObject({
      reason: 'accessCheck',
    });
  });

  it('waits for the first sync', async () => {
    const stream = startStream();
    state.confirm(performance.now());
    expect((await (await stream).next()).done).toBe(false);
  });
});

describe('search for a public key', () => {
  const SSH_KEY =
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBNk9dhxew1YA8qNmqajt0N/9Z/OY5EfC9Czz7pm3px1';

  /** Returns the names of the users that a caller finds by a key. */
  async function find(
    condition: { field: 'sshpubkeys' | 'gpgkeyids'; id: string },
    options: { caller?: string; ownOnly?: readonly UserField[] } = {},
  ) {
    state.confirm(performance.now());
    const visible = new PrivateDirectory(directory, {
      hidden: new Set(['sshpubkeys', 'gpgkeyids']),
      trustedReaders: new PrincipalSet({}),
      ownOnly: new Set(options.ownOnly),
    });
    const { items } = await visible.listUsers(
      {
        from: { kind: 'all' },
        where: { kind: 'publicKey', ...condition },
        fields: new Set(['username']),
        page: { number: 1, size: 10 },
      },
      {
        ...context,
        caller: {
          account: { username: options.caller },
        } as CallerContext['caller'],
      },
    );
    return items.map(({ username }) => username);
  }

  const ssh = { field: 'sshpubkeys', id: publicKeyId(SSH_KEY) } as const;

  beforeEach(() => {
    put(1, { sshpubkeys: ['not a key', `${SSH_KEY} one@laptop`] });
    put(2, { sshpubkeys: [`no-pty ${SSH_KEY}`], is_private: true });
    put(3, { gpgkeyids: ['DEADBEEFDEADBEEFDEADBEEF0123456789ABCDEF'] });
    put(4, { gpgkeyids: ['0123 4567 89ab cdef'], is_private: true });
    put(5, { gpgkeyids: ['89ABCDEF'] });
  });

  it('finds users by the keys that they show', async () => {
    await tables.users.buildIndexes();
    expect(await find(ssh)).toEqual(['user0001']);
    expect(await find(ssh, { caller: 'user0002' })).toEqual([
      'user0001',
      'user0002',
    ]);
    expect(
      await find(ssh, { caller: 'user0002', ownOnly: ['sshpubkeys'] }),
    ).toEqual(['user0002']);
    expect(await find({ ...ssh, id: ssh.id.replace(/.$/, '_') })).toEqual([]);
  });

  it('finds users by an OpenPGP key ID or fingerprint', async () => {
    const ids = {
      keyId: '0123456789ABCDEF',
      fingerprint: 'DEADBEEFDEADBEEFDEADBEEF0123456789ABCDEF',
      other: 'FEEDBEEFDEADBEEFDEADBEEF0123456789ABCDEF',
    };
    const gpg = (id: string, caller?: string) =>
      find({ field: 'gpgkeyids', id }, { caller });
    expect(await gpg(ids.keyId)).toEqual(['user0003']);
    expect(await gpg(ids.fingerprint)).toEqual(['user0003']);
    expect(await gpg(ids.other, 'user0004')).toEqual(['user0004']);
  });

  it('finds a key that is added or removed', async () => {
    state.confirm(performance.now());
    expect(await find(ssh)).toEqual(['user0001']);
    put(1);
    put(3, { sshpubkeys: [SSH_KEY] });
    expect(await find(ssh)).toEqual(['user0003']);
  });
});
