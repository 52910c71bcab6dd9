import { startRealm, type Realm } from '@directory-gateway/realm';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { FaultProxy, ldapOf } from '@directory-gateway/ldap/testUtils';
import {
  GatewayClient,
  type ClientResponse,
  type RequestOptions,
} from '../__testUtils__/gateway/GatewayClient';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const SERVICE_TOKEN = 'a-token-of-another-plugin';

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

/** Does not exist when the gateway starts. */
const keytab = () => join(realm.dir, 'late.keytab');

/** Hides attributes from the service account, or shows them again. */
const setDenied = (operation: 'add' | 'delete') =>
  realm.modify(
    `dn: cn=users,cn=accounts,${realm.baseDn}\nchangetype: modify\n${operation}: aci\naci: (targetattr = "fasIsPrivate || nsAccountLock")(version 3.0; acl "hide the flags"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)\n`,
  );

/** The gateway starts without its directory, its access rights and its keytab. */
beforeAll(async () => {
  realm = await startRealm();
  await setDenied('add');
  await realm.directory.stop();
  gateway = await startGateway({
    realm,
    until: 'started',
    kerberos: { keytab: keytab() },
    serviceToken: SERVICE_TOKEN,
    directory: { replica: { maxStaleness: '5s' } },
  });
  client = new GatewayClient({ gateway, realm });
});
afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

const requestBob = (options: RequestOptions) =>
  client.request('/v1/users/bob/', options);
const asService = {
  headers: { Authorization: `Bearer ${SERVICE_TOKEN}` },
};

async function expectUnavailable(options: RequestOptions): Promise<void> {
  const { status, headers, text } = await requestBob(options);
  expect(status).toBe(503);
  expect(headers.get('retry-after')).toMatch(/^\d+$/);
  expect(text).not.toMatch(/ldap|cn=|localhost/i);
}

/** Repeats a request until it succeeds; resolves with that response. */
async function eventuallyOk(options: RequestOptions): Promise<ClientResponse> {
  let response: ClientResponse | undefined;
  await eventually(async () => {
    response = await requestBob(options);
    expect(response.status).toBe(200);
  });
  return response!;
}

it('returns 503 until the directory responds and grants the required access', async () => {
  await expectUnavailable(asService);
  await realm.directory.start();
  await eventually(() =>
    expect(gateway.log()).toMatch(/may not read.*fasIsPrivate/),
  );
  await expectUnavailable(asService);
  await setDenied('delete');
  await eventuallyOk(asService);
});

it('returns 503 for SPNEGO tokens until the keytab exists', async () => {
  const path = keytab();
  const alice = { as: 'alice' };
  expect((await requestBob(alice)).status).toBe(503);
  expect((await requestBob({})).status).toBe(401);
  expect(gateway.log()).toMatch(/late\.keytab/);
  await copyFile(realm.keytab, `${path}.new`);
  await rename(`${path}.new`, path);
  await eventuallyOk(alice);
});

it('returns 503 when the replica is too old, and recovers', async () => {
  const alice = { as: 'alice' };
  const before = await eventuallyOk(alice);
  await realm.directory.kill();
  await eventually(() => expectUnavailable(alice));
  for (let round = 0; round < 10; round++) {
    await expectUnavailable(alice);
  }
  await realm.directory.start();
  const after = await eventuallyOk(alice);
  expect(after.json).toEqual(before.json);
  expect(gateway.alive()).toBe(true);
});

it('returns 504 while the directory does not respond in time, and recovers', async () => {
  const proxy = await FaultProxy.start(realm.ldapsUrl);
  const slow = await startGateway({
    realm,
    directory: {
      ldap: {
        ...ldapOf(realm),
        servers: [`ldaps://localhost:${proxy.port}`],
        decisionTimeout: { milliseconds: 300 },
      },
    },
  });
  client = new GatewayClient({ gateway: slow, realm });
  try {
    await eventuallyOk({ as: 'alice' });
    proxy.toClient = { kind: 'delay', ms: 400 };
    // The account of alice is cached.
    await eventually(async () =>
      expect((await requestBob({ as: 'dave' })).status).toBe(504),
    );
    proxy.toClient = { kind: 'pass' };
    await eventuallyOk({ as: 'dave' });
  } finally {
    await slow.stop();
    await proxy.stop();
  }
});
