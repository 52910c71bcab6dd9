import { startRealm, type Realm } from '@directory-gateway/realm';
import { randomBytes } from 'node:crypto';
import { addUser, userDn } from './__testUtils__/conformance/entries';
import { GatewayClient } from './__testUtils__/gateway/GatewayClient';
import { HttpClient } from './__testUtils__/gateway/HttpClient';
import {
  startGateway,
  type Gateway,
} from './__testUtils__/gateway/startGateway';

jest.setTimeout(300_000);

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    directory: {
      changes: { keys: [{ secret: randomBytes(32).toString('hex') }] },
      portalUsers: { namespace: 'default', username: 'entityName' },
    },
  });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

interface Changes {
  readonly result: readonly Record<string, unknown>[];
  readonly cursor: string;
}

/** Requests changes until there is one of a kind. */
async function follow(cursor: string, kind: string) {
  const kinds: unknown[] = [];
  let next = cursor;
  while (!kinds.includes(kind)) {
    const { json, status } = await client.request(
      `/v1/changes/?cursor=${next}&wait=60`,
      { as: 'dave' },
    );
    expect(status).toBe(200);
    const { result, cursor: after } = json as Changes;
    kinds.push(...result.map(change => change.kind));
    next = after;
  }
  return kinds;
}

async function presentCursor(): Promise<string> {
  const { json } = await client.request('/v1/changes/', { as: 'dave' });
  return (json as Changes).cursor;
}

describe('GET /changes/', () => {
  it('returns what has changed in the directory', async () => {
    const cursor = await presentCursor();
    await realm.modify(
      addUser('newcomer', {
        objectClass: [
          'inetOrgPerson',
          'posixAccount',
          'krbPrincipalAux',
          'ipaObject',
          'fasUser',
        ],
        ipaUniqueID: 'newcomer',
      }),
    );
    const modify = (change: string) =>
      realm.modify(`dn: ${userDn('newcomer')}\nchangetype: ${change}\n`);
    await follow(cursor, 'user_created');
    await modify('modify\nreplace: nsAccountLock\nnsAccountLock: TRUE');
    await follow(cursor, 'user_locked');
    await modify('modrdn\nnewrdn: uid=renamed\ndeleteoldrdn: 1');
    await follow(cursor, 'user_renamed');
    await realm.modify(`dn: ${userDn('renamed')}\nchangetype: delete\n`);
    expect(await follow(cursor, 'user_deleted')).toEqual([
      'user_created',
      'user_locked',
      'user_renamed',
      'user_deleted',
    ]);
  });

  it('responds to invalid parameters and cursors', async () => {
    const invalid = await client.request('/v1/changes/?wait=61&page_size=0', {
      as: 'dave',
    });
    expect(invalid.status).toBe(400);
    expect(invalid.json).toMatchObject({
      errors: {
        wait: 'Seconds to wait. Must be a whole number from 0 to 60.',
        page_size: 'Page size. Must be a whole number from 1 to 1000.',
      },
    });
    const cursor = await client.request('/v1/changes/?cursor=x', {
      as: 'dave',
    });
    expect(cursor.status).toBe(400);
    expect((await client.request('/v1/changes/')).status).toBe(401);
  });

  it('responds 401 to a waiting caller whose account was locked', async () => {
    // The guest provider signs in alice.
    const guest = await HttpClient.asGuest(gateway);
    let { cursor } = (await guest.request('/v1/changes/')).json as Changes;
    await realm.modify(
      `dn: ${userDn(
        'alice',
      )}\nchangetype: modify\nreplace: nsAccountLock\nnsAccountLock: TRUE\n`,
    );
    let response;
    do {
      response = await guest.request(`/v1/changes/?cursor=${cursor}&wait=60`);
      cursor = (response.json as Changes).cursor;
    } while (response.status === 200);
    const { status, json } = response;
    expect({ status, json }).toMatchObject({
      status: 401,
      json: { reason: 'account_locked' },
    });
  });
});
