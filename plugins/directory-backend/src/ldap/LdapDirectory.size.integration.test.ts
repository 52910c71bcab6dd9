import { startRealm, type Realm } from '@directory-gateway/realm';
import { AccessLog } from '../__testUtils__/AccessLog';
import { dumpEntries } from '../__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from '../__testUtils__/naive/NaiveDirectory';
import {
  openLdapDirectory,
  type OpenLdapDirectory,
} from '../__testUtils__/openLdapDirectory';
import type { DirectoryContext } from '../directory/Directory';
import type { Page, PageRequest } from '../directory/Page';
import type { User } from '../directory/User';

jest.setTimeout(300_000);

const PEOPLE = 20_000;
const context: DirectoryContext = {
  caller: {
    kind: 'portalService',
    credentials: {
      $$type: '@backstage/BackstageCredentials',
      principal: { type: 'service', subject: 'plugin:test' },
    },
  },
  signal: new AbortController().signal,
};
const visibleTo = { kind: 'everything' } as const;
const fields = new Set(['username', 'emails'] as const);

let realm: Realm;
let opened: OpenLdapDirectory;
let model: NaiveDirectory;

beforeAll(async () => {
  realm = await startRealm({ users: PEOPLE });
  // However busy the machine is: this is not about speed.
  opened = openLdapDirectory({
    realm,
    ldap: { operationTimeout: { minutes: 1 } },
  });
  model = new NaiveDirectory(await dumpEntries(realm), 'fas');
});
afterAll(async () => {
  opened?.close();
  await realm?.stop();
});

/** Every page of a list, each held against the totals of the first. */
async function walk(
  size: number,
  read: (page: PageRequest) => Promise<Page<User> | undefined>,
): Promise<readonly User[]> {
  const items: User[] = [];
  let total = 1;
  for (let number = 1; (number - 1) * size < total; number++) {
    const page = await read({ number, size });
    total = page!.total;
    expect(page!.items.length).toBe(Math.min(size, total - items.length));
    items.push(...page!.items);
  }
  const end = await read({ number: Math.ceil(total / size) + 1, size });
  expect(end).toEqual({ items: [], total });
  return items;
}

it('lists everybody once, in order', async () => {
  const { directory } = opened;
  const walked = await walk(1000, page =>
    directory.listUsers({ page, fields, visibleTo }, context),
  );
  const { items } = await model.listUsers({
    ...{ fields, visibleTo, page: { number: 1, size: 2 * PEOPLE } },
  });
  expect(items.length).toBeGreaterThan(PEOPLE - 10);
  expect(walked).toEqual(items);
});

it('lists the members of the largest group once, in order', async () => {
  const { directory } = opened;
  const walked = await walk(1000, page =>
    directory.listGroupMembers(
      { groupname: 'contributors', page, fields, visibleTo },
      context,
    ),
  );
  const expected = await model.listGroupMembers({
    ...{ groupname: 'contributors', fields, visibleTo },
    page: { number: 1, size: 2 * PEOPLE },
  });
  expect(walked.length).toBeGreaterThan(0.8 * PEOPLE);
  expect(walked).toEqual(expected!.items);
});

it('finds everybody by 500 a search', async () => {
  const log = new AccessLog(realm);
  await log.searches();
  const found = await opened.directory.searchUsers(
    {
      terms: [{ kind: 'present', field: 'username' }],
      ...{ fields, visibleTo, page: { number: 1, size: 40 } },
    },
    context,
  );
  const all = model.users.length;
  expect(found.total).toBe(all);
  const sent = await log.searches();
  const presence = sent.filter(({ filter }) => filter.includes('(uid=*)'));
  expect(presence).toHaveLength(Math.ceil(found.total / 500));
});

it('counts the members of all groups', async () => {
  const groupnames = model.groups.map(group => group.text('cn')!);
  const counts = await opened.directory.countGroupMembers(
    { groupnames },
    context,
  );
  expect(counts).toEqual(await model.countGroupMembers({ groupnames }));
  expect(Math.max(...counts.values())).toBeGreaterThan(0.8 * PEOPLE);
});

it('streams the members of the largest group, and stops when nobody listens', async () => {
  const log = new AccessLog(realm);
  const caller = new AbortController();
  const stream = await opened.directory.streamGroupMembers(
    { groupname: 'contributors', fields, visibleTo },
    { ...context, signal: caller.signal },
  );
  await log.searches();
  const portions = stream!.portions[Symbol.asyncIterator]();
  const first = await portions.next();
  expect(first.value.length).toBeGreaterThan(100);
  caller.abort();
  await expect(portions.next()).rejects.toThrow('aborted');
  // The portion that was given, and those that were being read meanwhile.
  const sent = (await log.searches()).length;
  expect(sent).toBeLessThan(stream!.total / 100);
});
