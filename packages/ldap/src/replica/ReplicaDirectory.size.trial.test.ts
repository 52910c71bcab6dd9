import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  type Page,
  type PageRequest,
  type User,
  userFieldNames,
} from '@directory-gateway/directory-core';
import {
  context,
  dumpEntries,
  NaiveDirectory,
} from '@directory-gateway/directory-core/testUtils';
import { openReplica, type OpenReplica } from '../__testUtils__/openReplica';

jest.setTimeout(300_000);

/** Number of users: fills several blocks of rows. */
const PEOPLE = 6_000;

const wholePage = { number: 1, size: 2 * PEOPLE };
const wholeUser = { fields: new Set(userFieldNames) };
const everyone = { ...wholeUser, from: { kind: 'all' } } as const;

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

/**
 * Returns the users of all pages of a list and checks the page after the last.
 */
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
      directory.listUsers({ ...everyone, page }, context),
    );
    const { items } = (await model.listUsers({
      ...everyone,
      page: wholePage,
    }))!;
    expect(items.length).toBeGreaterThan(PEOPLE - 10);
    expect(listed).toEqual(items);
  });

  it('streams every user once, in order', async () => {
    const stream = await opened!.directory.streamUsers(everyone, context);
    const { total, batches } = stream!;
    const streamed: User[] = [];
    for await (const users of batches) {
      streamed.push(...users);
    }
    const { items } = (await model.listUsers({
      ...everyone,
      page: wholePage,
    }))!;
    expect(total).toBe(items.length);
    expect(streamed).toEqual(items);
  });

  it('lists every member of the largest group once, in order', async () => {
    const { directory } = opened!;
    const group = {
      ...wholeUser,
      from: { kind: 'membersOf', groupname: 'contributors' },
    } as const;
    const listed = await readPages(1000, page =>
      directory.listUsers({ ...group, page }, context),
    );
    const members = await model.listUsers({ ...group, page: wholePage });
    expect(listed.length).toBeGreaterThan(0.8 * PEOPLE);
    expect(listed).toEqual(members!.items);
  });

  it('finds users in every block of rows', async () => {
    const search = {
      ...everyone,
      page: wholePage,
      where: { kind: 'substring', field: 'human_name', text: 'AN' },
    } as const;
    const found = await opened!.directory.listUsers(search, context);
    expect(found!.total).toBeGreaterThan(PEOPLE / 20);
    expect(found).toEqual(await model.listUsers(search));
  });

  it('counts the members of all groups', async () => {
    const groupnames = model.groups.map(group => group.text('cn')!);
    const counts = await opened!.directory.countMembers(
      { groupnames },
      context,
    );
    expect(counts).toEqual(await model.countMembers({ groupnames }));
    expect(Math.max(...counts.values())).toBeGreaterThan(0.8 * PEOPLE);
  });
});
