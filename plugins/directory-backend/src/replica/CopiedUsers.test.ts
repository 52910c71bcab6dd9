import { context } from '../directory/conformanceQuestions';
import { schemaPreset, userFieldNames } from '../directory/schema';
import type { User } from '../directory/User';
import { createCopiedDirectory } from './createCopiedDirectory';
import { createTables } from './ReplicaTables';

const PEOPLE = 1200;

/** With all fields, as a copy has them. */
function person(number: number, known: Partial<User> = {}) {
  const username = `user${String(number).padStart(4, '0')}`;
  const none = Object.fromEntries(
    userFieldNames.map(name => [name, undefined]),
  );
  return {
    key: `uid=${username}`,
    entry: { user: { ...none, username, ...known } as User },
  };
}

const keys = {
  user: (username: string) => `uid=${username}`,
  group: (groupname: string) => `cn=${groupname}`,
  entry: (dn: string) => dn,
};
const everyone = {
  fields: new Set(userFieldNames),
  visibleTo: { kind: 'everything' },
} as const;

it.each([true, false])(
  'streams who was there when it was asked, as they were (unlocked only: %s)',
  async unlockedOnly => {
    const tables = createTables();
    const put = (number: number, known?: Partial<User>) => {
      const { key, entry } = person(number, known);
      tables.users.set(key, entry);
    };
    for (let number = 0; number < PEOPLE; number++) {
      put(number, { is_private: true });
    }
    const { streamUsers } = createCopiedDirectory({
      tables,
      schema: schemaPreset('fas'),
      keys,
    });
    const { total, portions } = await streamUsers(
      { ...everyone, unlockedOnly },
      context,
    );

    const seen: User[] = [];
    for await (const users of portions) {
      seen.push(...users);
      // As a copy is made anew from a server that hides the flag.
      for (let number = 0; number < PEOPLE; number += 7) {
        put(number);
      }
      tables.users.delete(person(PEOPLE - 1).key);
      put(PEOPLE, { is_private: true });
    }
    expect(total).toBe(PEOPLE);
    expect(seen.map(({ username }) => username)).toEqual(
      Array.from({ length: PEOPLE }, (_, n) => person(n).entry.user.username),
    );
    expect(seen.filter(user => !user.is_private)).toHaveLength(0);
  },
);

it('stops a stream when the caller disconnects', async () => {
  const tables = createTables();
  for (let number = 0; number < PEOPLE; number++) {
    const { key, entry } = person(number);
    tables.users.set(key, entry);
  }
  const { streamUsers } = createCopiedDirectory({
    tables,
    schema: schemaPreset('fas'),
    keys,
  });
  const caller = new AbortController();
  const { portions } = await streamUsers(everyone, {
    ...context,
    signal: caller.signal,
  });
  const stream = portions[Symbol.asyncIterator]();
  expect((await stream.next()).value.length).toBeLessThan(PEOPLE);
  caller.abort();
  await expect(stream.next()).rejects.toThrow('aborted');
});
