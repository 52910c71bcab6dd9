import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  addFasUser,
  eventually,
  userDn,
  withdrawn,
} from '@directory-gateway/directory-core/testUtils';
import { GatewayClient } from '../__testUtils__/gateway/GatewayClient';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';
import { HttpClient } from '../__testUtils__/gateway/HttpClient';

jest.setTimeout(600_000);

const DELETED_USERS =
  'cn=deleted users,cn=accounts,cn=provisioning,dc=example,dc=test';

const serviceToken = 'a-token-of-another-plugin';

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    guest: 'user:default/bob',
    serviceToken,
    directory: {
      portalUsers: { namespace: 'default', username: 'entityName' },
    },
  });
  client = new GatewayClient({ gateway, realm });
});
afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

/** Moves a user like `ipa user-del --preserve`. */
function preserve(dn: string): Promise<void> {
  return realm.modify(
    `dn: ${dn}\nchangetype: modrdn\nnewrdn: ${
      dn.split(',')[0]
    }\ndeleteoldrdn: 0\nnewsuperior: ${DELETED_USERS}\n`,
  );
}

async function names(path: string): Promise<string[]> {
  const { json } = await client.request(`${path}?page_size=1000`, {
    as: 'alice',
  });
  return (json as { result: Record<string, string>[] }).result.map(
    ({ username, groupname }) => username ?? groupname,
  );
}

function account(username: string) {
  const services = HttpClient.withToken(gateway, serviceToken);
  return services.request(`/v1/accounts/${username}@EXAMPLE.TEST/`);
}

describe('without the right to read preserved users', () => {
  it('returns accounts to services of the portal only', async () => {
    const path = '/v1/accounts/bob@EXAMPLE.TEST/';
    expect((await client.request(path)).status).toBe(401);
    expect((await client.request(path, { as: 'alice' })).status).toBe(403);
    const portal = await HttpClient.asGuest(gateway);
    expect((await portal.request(path)).status).toBe(403);
    expect((await account('carol')).json).toMatchObject({
      result: { locked: true },
    });
    expect((await account('eve')).json).toMatchObject({
      result: { expired: true },
    });
    for (const name of ['admin', 'bot%2Fbuilder.example.test', 'nobody']) {
      expect((await account(name)).status).toBe(404);
    }
  });

  it('denies access to a preserved user and removes the user from all lists', async () => {
    const portal = await HttpClient.asGuest(gateway);
    expect((await client.request('/v1/me/', { as: 'bob' })).status).toBe(200);
    expect((await portal.request('/v1/me/')).status).toBe(200);
    expect((await account('bob')).json).toEqual({
      result: { username: 'bob', locked: false, expired: false },
    });
    expect(await names('/v1/groups/packager/members/')).toContain('bob');

    await preserve(userDn('bob'));

    await eventually(async () => {
      const response = await client.request('/v1/me/', { as: 'bob' });
      expect(response).toMatchObject({
        status: 401,
        json: { reason: 'unknown_principal' },
      });
    });
    await eventually(async () =>
      expect(await portal.request('/v1/users/')).toMatchObject({ status: 401 }),
    );
    await eventually(async () =>
      expect(await account('bob')).toMatchObject({
        status: 404,
        json: { message: 'Account not found' },
      }),
    );
    await eventually(async () => {
      expect(await names('/v1/users/')).not.toContain('bob');
      expect(await names('/v1/groups/packager/members/')).not.toContain('bob');
      expect(await names('/v1/groups/packager/sponsors/')).not.toContain('bob');
      const user = await client.request('/v1/users/bob/', { as: 'alice' });
      expect(user.status).toBe(404);
    });
  });

  it('denies sign-in by old names and to deleted and withdrawn users', async () => {
    await realm.modify(
      [
        `dn: ${userDn('minimal')}\nchangetype: modrdn\nnewrdn: uid=maximal`,
        `deleteoldrdn: 1\n\ndn: ${userDn('dave')}\nchangetype: delete\n\n`,
        `dn: ${userDn('alice')}\nchangetype: modify\ndelete: krbPrincipalName`,
        `krbPrincipalName: alice.liddell@EXAMPLE.TEST\n\n`,
      ].join('\n'),
    );
    await eventually(async () =>
      expect((await account('dave')).status).toBe(404),
    );
    // The principal is kept, but the account has another name.
    await eventually(async () =>
      expect((await account('minimal')).json).toMatchObject({
        result: { username: 'maximal' },
      }),
    );
    expect((await account('alice.liddell')).status).toBe(404);
    await realm.modify(addFasUser('leaver'));
    await eventually(async () =>
      expect((await account('leaver')).status).toBe(200),
    );
    await realm.modify(withdrawn('leaver'));
    await eventually(async () =>
      expect((await account('leaver')).status).toBe(404),
    );
  });
});
