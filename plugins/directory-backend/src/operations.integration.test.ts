import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allMayExport } from './__testUtils__/accessRules';
import { AccessLog, type LoggedSearch } from './__testUtils__/AccessLog';
import { GatewayClient } from './__testUtils__/GatewayClient';
import {
  ldapOf,
  startGateway,
  type Gateway,
} from './__testUtils__/startGateway';
import { TokenClient } from './__testUtils__/TokenClient';

jest.setTimeout(180_000);

/** A row of the table that promises what a request costs. */
interface Promised {
  readonly operation: string;
  readonly path: string;
  readonly mask?: string;
  readonly searches: number;
}

const ROW = /^\| `(\w+)` +\| `([^`]+)`(?: `([^`]+)`)? +\| +(\d+) \|/gm;
const page = readFileSync(
  join(__dirname, '../../../docs/ldap-operations.md'),
  'utf8',
);
const promises: readonly Promised[] = [...page.matchAll(ROW)].map(
  ([, operation, path, mask, searches]) => ({
    ...{ operation, path, mask },
    searches: Number(searches),
  }),
);
const titled = promises.map(
  promised =>
    [[promised.path, promised.mask ?? ''].join(' '), promised] as const,
);

let realm: Realm;
let gateway: Gateway;
let log: AccessLog;
let client: TokenClient;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    directory: {
      // A copy asks nothing for a request.
      reads: 'direct',
      access: allMayExport,
      portalUsers: { namespace: 'default', username: 'entityName' },
      // Rights are proven once, at the start.
      // Nor is anything kept of what an earlier request has read.
      ldap: { ...ldapOf(realm), probeInterval: { hours: 1 }, keptRecords: 0 },
    },
  });
  log = new AccessLog(realm);
  client = await TokenClient.signIn(gateway);
  // Rights are proven and names read once, before anything is counted.
  await client.ask('/v1/users/?page_size=1');
  await client.ask('/v1/groups/?page_size=1');
  await client.ask('/v1/users/alice/agreements/');
  await client.ask('/v1/users/alice/memberships/');
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

/** Who calls, and what was written: not of one request. */
function isShared({ base, attributes }: LoggedSearch): boolean {
  const asksWho = attributes.includes('krbPrincipalExpiration');
  const asksRootDse = base === '' && ['lastusn', '1.1'].includes(attributes[0]);
  const asksNumbers = attributes[0] === 'entryusn';
  return asksWho || asksRootDse || asksNumbers;
}

async function cost(ask: () => Promise<unknown>): Promise<LoggedSearch[]> {
  await log.searches();
  await ask();
  return (await log.searches()).filter(search => !isShared(search));
}

it('has a row for every operation that reads the directory', () => {
  const operations = Object.values(
    openApiDocument.paths as Record<string, { get?: { operationId: string } }>,
  ).flatMap(({ get }) => get?.operationId ?? []);
  // These query a CA, nothing, or the principal as each caller is looked up.
  const others = [
    'get_cert',
    'list_certificate_profiles',
    'get_account',
    'get_operations',
  ];
  const reading = operations.filter(id => !others.includes(id));
  expect(new Set(promises.map(({ operation }) => operation))).toEqual(
    new Set(reading),
  );
  expect(promises.length).toBeGreaterThan(25);
});

it.each(titled)('%s costs what it says', async (_title, promised) => {
  const { path, mask, searches } = promised;
  let status = 0;
  const sent = await cost(async () => {
    ({ status } = await client.ask(`/v1${path}`, { mask }));
  });
  expect([200, 404]).toContain(status);
  expect(sent).toHaveLength(searches);
});

it('costs the same with a ticket, and a name is one base search', async () => {
  const kerberos = new GatewayClient({ gateway, realm });
  const sent = await cost(() =>
    kerberos.ask('/v1/groups/packager/is-member/alice', { as: 'bob' }),
  );
  expect(sent).toEqual([
    {
      base: 'uid=alice,cn=users,cn=accounts,dc=example,dc=test',
      filter: expect.stringContaining('memberOf=cn=packager,'),
      attributes: ['uid'],
    },
  ]);
});

it('looks a caller up and asks for news now and then', async () => {
  const requests = 200;
  await log.searches();
  const startedAt = performance.now();
  for (let count = 0; count < requests; count++) {
    await client.ask('/v1/users/?page_size=1', { mask: 'username' });
  }
  const tookMs = performance.now() - startedAt;
  const sent = await log.searches();
  const news = sent.filter(({ attributes }) => attributes[0] === 'lastusn');
  const lookUps = sent.filter(({ attributes }) =>
    attributes.includes('krbPrincipalExpiration'),
  );
  expect(news.length).toBeGreaterThan(0);
  expect(news.length).toBeLessThanOrEqual(1 + tookMs / 250);
  expect(lookUps.length).toBeLessThanOrEqual(1 + tookMs / 4000);
  expect(sent.every(isShared)).toBe(true);
});
