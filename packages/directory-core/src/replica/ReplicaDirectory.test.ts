import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { userFieldNames } from '../directory/schema';
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
