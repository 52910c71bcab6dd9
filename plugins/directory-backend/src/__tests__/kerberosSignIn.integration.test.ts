import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startOtherRealm,
  startRealm,
  type OtherRealm,
  type Realm,
} from '@directory-gateway/realm';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { issuerFiles } from '../__testUtils__/certificates/issuerFiles';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { guestToken, refreshByTicket } from '../__testUtils__/gateway/signIn';
import {
  type Gateway,
  startGateway,
} from '../__testUtils__/gateway/startGateway';

jest.setTimeout(600_000);

/** Entities of the administrator: alice, whose group is protected. */
const ORG = `
apiVersion: backstage.io/v1alpha1
kind: User
metadata:
  name: alice
  annotations:
    directory-gateway/kerberos-principal: alice@EXAMPLE.TEST
    directory-gateway/username: alice
spec:
  memberOf: [contributors]
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: { name: contributors }
spec: { type: team, children: [] }
`;

/** Entities of bob, who claims to be alice and an administrator. */
const CLAIMS = `
apiVersion: backstage.io/v1alpha1
kind: User
metadata:
  name: mallory
  annotations:
    directory-gateway/kerberos-principal: bob@EXAMPLE.TEST
    directory-gateway/username: alice
spec:
  memberOf: [portal-admins]
---
apiVersion: backstage.io/v1alpha1
kind: User
metadata:
  name: bob
  annotations:
    directory-gateway/username: alice
spec:
  memberOf: [portal-admins]
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: { name: portal-admins }
spec: { type: team, children: [], members: [alice] }
`;

let realm: Realm;
let other: OtherRealm;
let folder: string;
let gateway: Gateway;
/** Serves the entities of bob. */
let claims: ReturnType<typeof createServer>;
/** The token of bob by the guest provider. */
let token: string;

async function refreshAs(principal: string) {
  const { krb5Config } = realm;
  const ccache = await realm.ticket(principal);
  return refreshByTicket(gateway, { krb5Config, ccache });
}

/** Calls an API of the portal as bob, unless `init` has another token. */
const call = (path: string, init: RequestInit = {}) =>
  fetch(`${gateway.baseUrl}/api/${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${token}`, ...init.headers },
  });

beforeAll(async () => {
  realm = await startRealm();
  other = await startOtherRealm(realm);
  folder = await mkdtemp(join(tmpdir(), 'sign-in-'));
  claims = createServer((_req, res) => res.end(CLAIMS));
  claims.listen(0, '127.0.0.1');
  await once(claims, 'listening');
  const { port } = claims.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const org = join(folder, 'org.yaml');
  await writeFile(org, ORG);
  gateway = await startGateway({
    realm,
    guest: 'user:default/bob',
    kerberos: { keytab: other.sharedKeytab, realm: 'EXAMPLE.TEST' },
    backend: { reading: { allow: [{ host }] } },
    kerberosSignIn: {
      resolvers: [
        { resolver: 'principalMatchingUserEntityAnnotation' },
        { resolver: 'directoryUser' },
      ],
    },
    catalog: {
      rules: [
        { allow: ['Component', 'Location'] },
        {
          allow: ['User', 'Group'],
          locations: [{ type: 'url', pattern: `http://${host}/**` }],
        },
      ],
      locations: [
        { type: 'file', target: org, rules: [{ allow: ['User', 'Group'] }] },
      ],
    },
    directory: {
      replica: { maxStaleness: '20s' },
      trustedLocations: [`file:${org}`],
      portalUsers: {
        namespace: 'default',
        username: 'annotation',
        mayRequestCertificates: true,
      },
      certificates: {
        authority: 'embedded',
        protectedGroups: ['packager'],
        embedded: {
          organization: 'Example',
          ...issuerFiles({ folder, name: 'ca' }),
        },
      },
    },
  });
  token = await guestToken(gateway);
  const registered = await call('catalog/locations', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      type: 'url',
      target: `http://${host}/users.yaml`,
    }),
  });
  assert.equal(registered.status, 201);
  await eventually(async () => {
    for (const name of ['mallory', 'alice']) {
      const entity = await call(
        `catalog/entities/by-name/user/default/${name}`,
      );
      assert.equal(entity.status, 200);
      const groups = (await entity.json()).relations;
      assert.equal(groups.length, name === 'alice' ? 2 : 1);
    }
  });
});

afterAll(async () => {
  await gateway?.stop();
  claims?.close();
  await other?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a user who registers a location with claims about users', () => {
  it('signs in as themselves, without the groups of the claims', async () => {
    const { status, body } = await refreshAs('bob');
    expect(status).toBe(200);
    expect(body.backstageIdentity?.identity).toMatchObject({
      userEntityRef: 'user:default/bob',
      // The groups of the directory.
      ownershipEntityRefs: [
        'user:default/bob',
        'group:default/contributors',
        'group:default/design',
        'group:default/packager',
      ],
    });
  });

  it('cannot add trusted users to groups', async () => {
    const { body } = await refreshAs('alice');
    const { userEntityRef, ownershipEntityRefs } =
      body.backstageIdentity!.identity;
    expect(userEntityRef).toBe('user:default/alice');
    expect(ownershipEntityRefs).toContain('group:default/contributors');
    expect(ownershipEntityRefs).not.toContain('group:default/portal-admins');
  });

  it('is not the directory user of the claims', async () => {
    const me = await call('directory/v1/me/');
    expect([me.status, await me.json()]).toEqual([
      403,
      expect.objectContaining({
        message: 'You have no identity in the directory.',
      }),
    ]);
  });

  it('does not get a certificate for the user of the claims', async () => {
    const csr = makeCsr({ subject: '/CN=alice' });
    const response = await call('directory/v1/certs/', {
      method: 'POST',
      body: new URLSearchParams({ user: 'alice', csr }),
    });
    expect(response.status).toBe(403);
    expect(await response.text()).not.toContain('BEGIN CERTIFICATE');
  });

  it('does not change the identity of the trusted entity', async () => {
    const { body } = await refreshAs('alice');
    const me = await call('directory/v1/me/', {
      headers: { Authorization: `Bearer ${body.backstageIdentity?.token}` },
    });
    expect((await me.json()).result).toMatchObject({ username: 'alice' });
  });
});

it('denies sign-in to users of another realm whose key is in the keytab', async () => {
  const { krb5Config, ticket: ccache } = other;
  expect(await refreshByTicket(gateway, { krb5Config, ccache })).toMatchObject({
    status: 401,
    body: { reason: 'realm_refused' },
  });
});

// The last tests: an account changes, and the directory stops.
it('does not renew a token by annotation once the account is locked', async () => {
  expect((await refreshAs('alice')).status).toBe(200);
  const lock = (value: string) =>
    realm.modify(
      `dn: uid=alice,cn=users,cn=accounts,${realm.baseDn}\n` +
        `changetype: modify\nreplace: nsAccountLock\nnsAccountLock: ${value}\n`,
    );
  await lock('TRUE');
  await eventually(async () => {
    const { status, body } = await refreshAs('alice');
    expect([status, body.reason]).toEqual([401, 'account_locked']);
  });
  await lock('FALSE');
  await eventually(async () => {
    expect((await refreshAs('alice')).status).toBe(200);
  });
});

it('returns 503 while the directory is unavailable', async () => {
  await realm.directory.stop();
  try {
    await eventually(async () => {
      const { status, body } = await refreshAs('alice');
      expect([status, body.reason]).toEqual([503, 'unavailable']);
    });
  } finally {
    await realm.directory.start();
  }
});
