import { eventually } from '@directory-gateway/directory-core/testUtils';
import {
  PostgresServer,
  type Realm,
  startRealm,
} from '@directory-gateway/realm';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { readRevocationList } from '../__testUtils__/certificates/readRevocationList';
import {
  embeddedAuthority,
  privilegedRules,
} from '../__testUtils__/gateway/directoryConfig';
import {
  form,
  GatewayClient,
  resultOf,
  serialOf,
} from '../__testUtils__/gateway/GatewayClient';
import {
  type Gateway,
  startGateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const DATABASE = 'backstage_plugin_directory';

let realm: Realm;
let postgres: PostgresServer;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  [realm, postgres] = await Promise.all([startRealm(), PostgresServer.start()]);
  await start();
});
afterAll(async () => {
  await gateway?.stop();
  await postgres?.stop();
  await realm?.stop();
});

async function start(): Promise<void> {
  const { host, user } = postgres.connection('postgres');
  gateway = await startGateway({
    realm,
    backend: { database: { client: 'pg', connection: { host, user } } },
    directory: {
      access: privilegedRules,
      certificates: embeddedAuthority(realm),
    },
  });
  client = new GatewayClient({ gateway, realm });
}

/** Stops the gateway, changes databases, and starts it again. */
async function restartAfter(...statements: readonly string[]): Promise<void> {
  await gateway.stop();
  const admin = postgres.connect('postgres');
  try {
    for (const statement of statements) {
      await admin.raw(statement);
    }
  } finally {
    await admin.destroy();
  }
  await start();
}

const issue = async () =>
  serialOf(
    await client.request('/v1/certs/', {
      as: 'alice',
      ...form({ user: 'alice', csr: makeCsr({ subject: '/CN=alice' }) }),
    }),
  );

async function revoke(serial: string): Promise<void> {
  const { status } = await client.request(`/v1/certs/${serial}/revocation/`, {
    as: 'dave',
    ...form({ reason: 'superseded' }),
  });
  expect(status).toBe(200);
}

const isRevoked = async (serial: string) =>
  resultOf(await client.request(`/v1/certs/${serial}/`, { as: 'alice' }))
    .revoked;

it('keeps revocations and the CRL number when an older database is restored', async () => {
  const earlier = await issue();
  const later = [await issue(), await issue()];
  const valid = await issue();
  await revoke(earlier);
  await restartAfter(`create database backup template ${DATABASE}`);
  for (const serial of later) {
    await revoke(serial);
  }
  const all = [earlier, ...later].toSorted();
  const last = await readRevocationList(gateway, realm);
  expect(last.serials.toSorted()).toEqual(all);

  await restartAfter(
    `drop database ${DATABASE}`,
    `create database ${DATABASE} template backup`,
  );
  // Until the next CRL is signed, none is published.
  await eventually(async () => {
    const next = await readRevocationList(gateway, realm);
    expect(next.serials.toSorted()).toEqual(all);
    expect(next.number).toBeGreaterThan(last.number);
  });
  expect(await Promise.all([...all, valid].map(isRevoked))).toEqual([
    ...[true, true, true],
    false,
  ]);
  expect(gateway.log()).toContain('The database did not have 2 revocations');
});
