import { startRealm, type Realm } from '@directory-gateway/realm';
import { dumpEntries } from '../__testUtils__/naive/DumpedEntry';
import { NaiveDirectory } from '../__testUtils__/naive/NaiveDirectory';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';
import { context } from '../directory/conformanceQuestions';
import type { Page, PageRequest } from '../directory/Page';
import { userFieldNames } from '../directory/schema';
import type { User } from '../directory/User';

jest.setTimeout(300_000);

/** Twenty blocks of rows and more. */
const PEOPLE = 20_000;

const everyone = { number: 1, size: 2 * PEOPLE };
const wholeUser = {
  fields: new Set(userFieldNames),
  visibleTo: { kind: 'everything' },
} as const;

let realm: Realm | undefined;
let opened: OpenReplica | undefined;
let model: NaiveDirectory;

beforeAll(async () => {
  realm = await startRealm({ users: PEOPLE });
  opened = await openReplica({ realm });
  model = new NaiveDirectory(await dumpEntries(realm), 'fas');
});
afterAll(async () => {
  opened?.close();
  await realm?.stop();
});

/** Returns the users of all pages of a list, then requests one page more. */
async function readPages(
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

describe(`ReplicaDirectory with ${PEOPLE} users`, () => {
  it('lists every user once, in order', async () => {
    const { directory } = opened!;
    const listed = await readPages(999, page =>
      directory.listUsers({ ...wholeUser, page }, context),
    );
    const { items } = await model.listUsers({ ...wholeUser, page: everyone });
    expect(items.length).toBeGreaterThan(PEOPLE - 10);
    expect(listed).toEqual(items);
  });

  it('streams every user once, in order', async () => {
    const { total, portions } = await opened!.directory.streamUsers(
      wholeUser,
      context,
    );
    const streamed: User[] = [];
    for await (const users of portions) {
      streamed.push(...users);
    }
    const { items } = await model.listUsers({ ...wholeUser, page: everyone });
    expect(total).toBe(items.length);
    expect(streamed).toEqual(items);
  });

  it('lists the members of the largest group once, in order', async () => {
    const { directory } = opened!;
    const group = { ...wholeUser, groupname: 'contributors' };
    const listed = await readPages(1000, page =>
      directory.listGroupMembers({ ...group, page }, context),
    );
    const members = await model.listGroupMembers({ ...group, page: everyone });
    expect(listed.length).toBeGreaterThan(0.8 * PEOPLE);
    expect(listed).toEqual(members!.items);
  });

  it('finds the users of a search in every block of rows', async () => {
    const search = {
      ...wholeUser,
      page: everyone,
      terms: [{ kind: 'substring', field: 'human_name', text: 'AN' }],
    } as const;
    const found = await opened!.directory.searchUsers(search, context);
    expect(found.total).toBeGreaterThan(PEOPLE / 20);
    expect(found).toEqual(await model.searchUsers(search));
  });

  it('counts the members of all groups', async () => {
    const groupnames = model.groups.map(group => group.text('cn')!);
    const counts = await opened!.directory.countGroupMembers(
      { groupnames },
      context,
    );
    expect(counts).toEqual(await model.countGroupMembers({ groupnames }));
    expect(Math.max(...counts.values())).toBeGreaterThan(0.8 * PEOPLE);
  });
});
