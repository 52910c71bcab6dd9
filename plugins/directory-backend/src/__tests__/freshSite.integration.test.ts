import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  addFasGroup,
  addFasUser,
  dumpEntries,
  eventually,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { ldapOf } from '@directory-gateway/ldap/testUtils';
import { form, GatewayClient } from '../__testUtils__/gateway/GatewayClient';
import {
  startGateway,
  type Gateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  realm = await startRealm();
  const served = (await dumpEntries(realm)).filter(
    entry => entry.isA('fasUser') || entry.isA('fasGroup'),
  );
  await realm.modify(
    served.map(({ dn }) => `dn: ${dn}\nchangetype: delete\n`).join('\n'),
  );
  gateway = await startGateway({
    realm,
    directory: { ldap: { ...ldapOf(realm), probeInterval: { seconds: 1 } } },
  });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
});

/** Hides `fasIsPrivate` from the service account, or shows it again. */
const setHidden = (operation: 'add' | 'delete') =>
  realm.modify(
    `dn: cn=users,cn=accounts,${realm.baseDn}\nchangetype: modify\n${operation}: aci\naci: (targetattr = "fasIsPrivate")(version 3.0; acl "hide flag"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)\n`,
  );

it('serves a directory that has freeipa-fas but no fasUser', async () => {
  for (const path of ['/v1/users/', '/v1/groups/']) {
    const response = await client.request(path, { as: 'admin' });
    expect(response).toMatchObject({ status: 200, json: { result: [] } });
  }
  const me = await client.request('/v1/me/', { as: 'admin' });
  expect(me).toMatchObject({ status: 200 });
  for (const name of ['fasUser', 'fasGroup']) {
    expect(gateway.log()).toContain(
      `There is no ${name} entry yet to verify access to`,
    );
  }
});

it('serves the operations on certificates without a CA', async () => {
  const signing = await client.request('/v1/certs/', {
    as: 'admin',
    ...form({ user: 'admin', csr: 'x' }),
  });
  expect(signing).toMatchObject({
    status: 400,
    json: {
      message:
        'The CSR cannot be signed: this portal has no certificate authority.',
    },
  });
  const read = await client.request('/v1/certs/42/', { as: 'admin' });
  expect(read).toMatchObject({
    status: 404,
    json: { message: 'Certificate not found', serial_number: 42 },
  });
});

it('serves the first fasUser only with a readable flag', async () => {
  await setHidden('add');
  await realm.modify(
    addFasUser('first') + addFasGroup('first', [userDn('first')]),
  );
  const members = () =>
    client.request('/v1/groups/first/members/', { as: 'admin' });
  await eventually(async () => expect((await members()).status).toBe(503));
  await setHidden('delete');
  await eventually(async () =>
    expect((await members()).json).toMatchObject({
      result: [{ username: 'first' }],
    }),
  );
});
