import { mockCredentials } from '@backstage/backend-test-utils';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessLog } from '../__testUtils__/AccessLog';
import { eventually } from '../__testUtils__/eventually';
import {
  openLdapDirectory,
  type OpenLdapDirectory,
} from '../__testUtils__/openLdapDirectory';
import type { Caller } from '../directory/Caller';
import type { UsersQuery } from '../directory/Directory';
import type { User } from '../directory/User';

jest.setTimeout(180_000);

let realm: Realm;
let open: OpenLdapDirectory;
let log: AccessLog;

beforeAll(async () => {
  realm = await startRealm();
  log = new AccessLog(realm);
});
beforeEach(() => {
  open = openLdapDirectory({ realm });
});
afterEach(() => open.close());
afterAll(() => realm?.stop());

const FIELDS: UsersQuery['fields'] = new Set(['locale', 'is_private']);

const caller: Caller = {
  kind: 'portalService',
  credentials: mockCredentials.service(),
};
const visibleTo = { kind: 'everything' } as const;

async function list(fields = FIELDS): Promise<readonly User[]> {
  const page = await open.directory.listUsers(
    { page: { number: 1, size: 1000 }, fields, visibleTo },
    { caller, signal: new AbortController().signal },
  );
  return page.items;
}

const alice = async () =>
  (await list()).find(({ username }) => username === 'alice');

const write = (attribute: string, value: string) =>
  realm.modify(`dn: uid=alice,cn=users,cn=accounts,${realm.baseDn}
changetype: modify
replace: ${attribute}
${attribute}: ${value}
`);

/** Searches for records of users since the last time. */
async function searches(): Promise<number> {
  const all = await log.searches();
  return all.filter(({ attributes }) => attributes.includes('fasLocale'))
    .length;
}

/** Lists until nothing is asked for it: the directory has been quiet. */
const untilKept = () =>
  eventually(async () => {
    await searches();
    await list();
    expect(await searches()).toBe(0);
  });

it('reads a page once while nothing is written, and again after any write', async () => {
  await write('fasLocale', 'en-US');
  await list();
  await untilKept();
  const before = await list();
  await realm.modify(`dn: cn=packager,cn=groups,cn=accounts,${realm.baseDn}
changetype: modify
replace: description
description: something else
`);
  await eventually(async () => {
    await list();
    expect(await searches()).toBeGreaterThan(0);
  });
  expect(await list()).toEqual(before);
});

/** The fields of Alice that have a value. */
async function filled(fields: UsersQuery['fields']): Promise<unknown> {
  const users = await list(fields);
  const user = users.find(({ username }) => username === 'alice')!;
  const values = Object.entries(user);
  return values.flatMap(([field, value]) => (value === undefined ? [] : field));
}

it('keeps the fields that were asked for apart', async () => {
  await write('fasLocale', 'en-US');
  await untilKept();
  expect(await filled(new Set(['emails']))).toEqual(['username', 'emails']);
  expect(await filled(FIELDS)).toEqual(['username', 'locale', 'is_private']);
});

it.each([
  ['after a quiet time', untilKept],
  ['while one write follows another', () => sleep(0)],
])('shows what was written, %s', async (_when, before) => {
  for (const locale of ['de-DE', 'fr-FR', 'pl-PL', 'pt-BR']) {
    await before();
    await write('fasLocale', locale);
    // As long as a change number is believed.
    await sleep(300);
    expect(await alice()).toMatchObject({ locale });
  }
});

it('shows that a profile has become private', async () => {
  await untilKept();
  expect(await alice()).toMatchObject({ is_private: false });
  await write('fasIsPrivate', 'TRUE');
  await sleep(300);
  expect(await alice()).toMatchObject({ is_private: true });
});
