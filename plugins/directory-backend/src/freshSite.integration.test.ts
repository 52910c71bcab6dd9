import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRealm, type Realm } from '@directory-gateway/realm';
import {
  addFasGroup,
  addFasUser,
  addGroup,
  addUser,
  eventually,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { form, GatewayClient } from './__testUtils__/gateway/GatewayClient';
import {
  startGateway,
  type Gateway,
} from './__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

const ADMIN_CLASSES = [
  'inetOrgPerson',
  'posixAccount',
  'krbPrincipalAux',
  'inetUser',
];

let folder: string;
let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fresh-site-'));
  const ldif = join(folder, 'fresh.ldif');
  const entries = [
    addUser('admin', { objectClass: ADMIN_CLASSES }),
    addGroup('admins', [userDn('admin')]),
  ].join('');
  await writeFile(ldif, entries.replaceAll('changetype: add\n', ''));
  realm = await startRealm({ ldif });
  gateway = await startGateway({ realm });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

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

  await realm.modify(
    addFasUser('first') + addFasGroup('first', [userDn('first')]),
  );
  await eventually(async () => {
    const response = await client.request('/v1/groups/first/members/', {
      as: 'admin',
    });
    expect(response.json).toMatchObject({ result: [{ username: 'first' }] });
  });
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

it('suspends reads once the first fasUser has an unreadable flag', async () => {
  await realm.modify(
    `dn: cn=users,cn=accounts,${realm.baseDn}\nchangetype: modify\nadd: aci\naci: (targetattr = "fasIsPrivate")(version 3.0; acl "hide flag"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)\n`,
  );
  const hidden = await startGateway({ realm });
  const response = await new GatewayClient({ gateway: hidden, realm }).request(
    '/v1/users/',
    { as: 'admin' },
  );
  await hidden.stop();
  expect(response.status).toBe(503);
});
