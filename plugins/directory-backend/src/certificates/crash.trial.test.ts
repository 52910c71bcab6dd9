import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import {
  PostgresServer,
  type Realm,
  startRealm,
} from '@directory-gateway/realm';
import assert from 'node:assert';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRevocationList } from '../__testUtils__/certificates/readRevocationList';
import { embeddedAuthority } from '../__testUtils__/gateway/directoryConfig';
import {
  form,
  GatewayClient,
  serialOf,
} from '../__testUtils__/gateway/GatewayClient';
import {
  type Gateway,
  startGateway,
} from '../__testUtils__/gateway/startGateway';
import { type CertificateRow, RECORDS } from './records/certificateRows';

/** Number of kills; `make trials` sets a higher number. */
const KILLS = Number(process.env.KILLS || 3);
/** Longest time in milliseconds from the first requests until the kill. */
const KILL_WITHIN_MS = 2000;
/** Seconds for which PostgreSQL delays the record of a signed certificate. */
const RECORD_SECONDS = 0.3;
/** Users who request certificates at the same time, one after the other. */
const USERS = ['alice', 'bob', 'dave'];

jest.setTimeout(600_000 + KILLS * 60_000);

let realm: Realm;
let postgres: PostgresServer;
const gateways: Gateway[] = [];

beforeAll(async () => {
  [realm, postgres] = await Promise.all([startRealm(), PostgresServer.start()]);
});
afterAll(async () => {
  await Promise.all(gateways.map(gateway => gateway.stop()));
  await postgres?.stop();
  await realm?.stop();
});

async function start(): Promise<Gateway> {
  const { host, user } = postgres.connection('postgres');
  const limits = { limit: { requests: 1_000_000 }, maxPerUser: 1_000_000 };
  const gateway = await startGateway({
    realm,
    backend: { database: { client: 'pg', connection: { host, user } } },
    directory: { certificates: { ...embeddedAuthority(realm), ...limits } },
  });
  gateways.push(gateway);
  return gateway;
}

/** Serial numbers of the audit events of all processes that have succeeded. */
const succeeded = (id: string) =>
  gateways
    .flatMap(gateway => gateway.log().split('\n'))
    .filter(line => line.includes(`directory.${id}`))
    .filter(line => /status\S*="succeeded"/.test(line))
    .map(line => /"serialNumber":"(\d+)"/.exec(line)?.[1] ?? 'none')
    .toSorted();

const serialsOf = (state: CertificateRow['state'], rows: CertificateRow[]) =>
  rows
    .filter(row => row.state === state)
    .map(row => row.serial_number!)
    .toSorted();

/**
 * Runs work in the database of the gateway, which exists since the first start.
 */
async function inDatabase<T>(work: (knex: Database) => Promise<T>): Promise<T> {
  const database = postgres.connect('backstage_plugin_directory');
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/**
 * Delays the step from a reserved serial number to a recorded certificate, and
 * rolls it back when the process has been killed.
 */
async function delayRecords(): Promise<void> {
  await inDatabase(async database => {
    await database.raw(
      'alter database backstage_plugin_directory set client_connection_check_interval = 20',
    );
    await database.raw(`
      create function delay_record() returns trigger language plpgsql as $$
        begin perform pg_sleep(${RECORD_SECONDS}); return new; end
      $$`);
    await database.raw(`
      create trigger delay_record before update on ${RECORDS} for each row
        when (old.state = 'reserved' and new.state = 'valid')
        execute function delay_record()`);
  });
}

/** Waits until a certificate is being signed or recorded, besides lost ones. */
async function untilReserved(lost: readonly string[]): Promise<void> {
  await inDatabase(async database => {
    const countReserved = async () =>
      (await database(RECORDS).where({ state: 'reserved' })).length;
    while ((await countReserved()) <= lost.length) {
      await sleep(10);
    }
  });
}

it(`loses and repeats no certificate in ${KILLS} kills, and revokes what was not recorded`, async () => {
  /** Serial numbers in responses; `true` after a repeated request. */
  const received = new Map<string, boolean>();
  /** CSRs without a response, by user. */
  const unanswered = new Map<string, string>();

  /** Sends a request, again if it was not answered. */
  async function request(user: string, gateway: Gateway): Promise<void> {
    const principal = `${user}@EXAMPLE.TEST`;
    const previous = unanswered.get(user);
    const facts = { username: user, principal, profile: 'userCerts' };
    const created = createSigningRequest(facts).csr.toString('base64');
    const csr = previous ?? created;
    unanswered.set(user, csr);
    const response = await new GatewayClient({ gateway, realm })
      .request('/v1/certs/', { as: user, ...form({ user, csr }) })
      .catch(error => {
        // Exit code of curl: the connection was refused or lost.
        if (typeof error.code !== 'number') {
          throw error;
        }
      });
    if (response) {
      assert.equal(response.status, 200, response.text);
      assert(!received.has(serialOf(response)));
      received.set(serialOf(response), previous !== undefined);
      unanswered.delete(user);
    }
  }

  await (await start()).stop();
  await delayRecords();
  for (let kill = 0; kill < KILLS; kill++) {
    const gateway = await start();
    const earlier = serialsOf('reserved', await setAge(0));
    const work = USERS.map(async user => {
      do {
        await request(user, gateway);
      } while (gateway.alive() && !unanswered.has(user));
    });
    await sleep(randomInt(KILL_WITHIN_MS));
    await untilReserved(earlier);
    await gateway.kill();
    await Promise.all(work);
  }
  expect(unanswered.size).toBeGreaterThan(0);
  const gateway = await start();
  await setAge(0);
  await Promise.all([...unanswered.keys()].map(each => request(each, gateway)));
  expect(unanswered.size).toBe(0);

  const lost = serialsOf('reserved', await setAge(11));
  expect(lost.length).toBeGreaterThan(0);
  // The task runs within a minute and a half.
  let rows: CertificateRow[];
  do {
    await sleep(1000);
    rows = await setAge(11);
  } while (serialsOf('reserved', rows).length > 0);
  expect(serialsOf('revoked', rows)).toEqual(lost);
  const { serials } = await readRevocationList(gateway, realm);
  expect(serials.toSorted()).toEqual(lost);
  expect(succeeded('certificate-revoke')).toEqual(lost);

  // A repeated request returns what was recorded before the kill.
  const valid = serialsOf('valid', rows);
  expect(valid).toEqual([...received.keys()].toSorted());
  expect(new Set([...valid, ...lost]).size).toBe(rows.length);
  const signed = succeeded('certificate-sign');
  expect([...new Set(signed)]).toEqual(valid);
  // The repeated request has its own event, also after one that was killed
  // between its event and the response.
  const repeated = [...received.values()].filter(Boolean).length;
  expect(signed.length - valid.length).toBeLessThanOrEqual(repeated);
  console.info(
    `${valid.length} certificates, ${repeated} of repeated requests, ${lost.length} revoked, ${signed.length} audit events`,
  );
});

/** Sets the age of all reservations in minutes, and returns the records. */
function setAge(minutes: number): Promise<CertificateRow[]> {
  const reserved_at = new Date(Date.now() - minutes * 60_000);
  return inDatabase(database =>
    database(RECORDS).update({ reserved_at }).returning('*'),
  );
}
