import { resolve } from 'node:path';
import { makeCsr } from './__testUtils__/certificates/makeCsr';
import { eventually } from './__testUtils__/eventually';
import { form, serialOf } from './__testUtils__/gateway/GatewayClient';
import { revocationListPath } from './__testUtils__/certificates/issuerFiles';
import { embeddedAuthority } from './__testUtils__/gateway/directoryConfig';
import { guestToken, tokenByTicket } from './__testUtils__/gateway/signIn';
import { withGateway } from './__testUtils__/gateway/withGateway';

jest.setTimeout(600_000);

const SERVICE = 'a-token-of-another-plugin';
const READ = 'directory.read';
const SIGN = 'directory.certificate.sign';
const REVOKE = 'directory.certificate.revoke';
const EXPORT = 'directory.members.export';
const ACCEPT = 'directory.replica.override';
const ACTIONS = '/.backstage/actions/v1/actions';

/**
 * The plugin with the permission framework disabled, which is an allow-all
 * policy: bob may not perform operations, alice may perform those that are open
 * to all users by default, dave all.
 */
const site = withGateway({
  configure: realm => ({
    guest: 'user:development/guest',
    serviceToken: SERVICE,
    kerberosSignIn: { resolvers: [{ resolver: 'directoryUser' }] },
    env: {
      NODE_OPTIONS: `--require ${resolve(
        __dirname,
        '__testUtils__/gateway/listRoutes.cjs',
      )}`,
    },
    directory: {
      access: [
        { principals: ['alice', 'dave', 'carol'], operations: [READ, SIGN] },
        { principals: ['dave'], operations: [REVOKE, EXPORT, ACCEPT] },
      ],
      portalUsers: {
        namespace: 'default',
        username: 'entityName',
        mayRequestCertificates: true,
      },
      fasjson: { enabled: true },
      certificates: embeddedAuthority(realm),
    },
  }),
});

/**
 * Every route below `/api/directory` with the status for no credentials, a
 * guest, an ordinary user, a locked user, a service and an administrator. 400
 * and 404 are returned after the access check: parameters are missing, and the
 * IDs are unknown.
 */
const EXPECTED: Readonly<Record<string, string>> = {
  'delete /.backstage/auth/v1/cookie': '401 204 204 204 204 204',
  'get /': '200 200 200 200 200 200',
  'get /.backstage/actions/v1/actions': '401 200 200 200 200 200',
  'get /.backstage/auth/v1/cookie': '401 200 200 200 403 200',
  'get /.backstage/auth/v1/jwks.json': '200 200 200 200 200 200',
  'get /.backstage/scheduler/v1/tasks': '401 200 200 200 200 200',
  'get /.well-known/backstage/permissions/metadata': '401 200 200 200 200 200',
  'get /ca/:issuer/certificate': '200 200 200 200 200 200',
  'get /ca/:issuer/crl': '200 200 200 200 200 200',
  'get /docs/v1': '200 200 200 200 200 200',
  'get /docs/v1/explorer.css': '200 200 200 200 200 200',
  'get /docs/v1/explorer.js': '200 200 200 200 200 200',
  'get /docs/v1/favicon.png': '200 200 200 200 200 200',
  'get /docs/v1/swagger-ui-bundle.js': '200 200 200 200 200 200',
  'get /docs/v1/swagger-ui.css': '200 200 200 200 200 200',
  'get /fasjson': '200 200 200 200 200 200',
  'get /fasjson/docs/v1': '200 200 200 200 200 200',
  'get /fasjson/docs/v1/explorer.css': '200 200 200 200 200 200',
  'get /fasjson/docs/v1/explorer.js': '200 200 200 200 200 200',
  'get /fasjson/docs/v1/favicon.png': '200 200 200 200 200 200',
  'get /fasjson/docs/v1/swagger-ui-bundle.js': '200 200 200 200 200 200',
  'get /fasjson/docs/v1/swagger-ui.css': '200 200 200 200 200 200',
  'get /fasjson/healthz/live': '200 200 200 200 200 200',
  'get /fasjson/healthz/ready': '200 200 200 200 200 200',
  'get /fasjson/specs/v1.json': '200 200 200 200 200 200',
  'get /fasjson/v1/certs/:serialNumber(\\d+)/': '401 403 404 401 404 404',
  'get /fasjson/v1/groups/': '401 403 200 401 200 200',
  'get /fasjson/v1/groups/:groupname/': '401 403 200 401 200 200',
  'get /fasjson/v1/groups/:groupname/is-member/:username':
    '401 403 200 401 200 200',
  'get /fasjson/v1/groups/:groupname/members/': '401 403 200 401 200 200',
  'get /fasjson/v1/groups/:groupname/sponsors/': '401 403 200 401 200 200',
  'get /fasjson/v1/me/': '401 403 200 401 403 200',
  'get /fasjson/v1/search/users/': '401 403 400 401 400 400',
  'get /fasjson/v1/users/': '401 403 200 401 200 200',
  'get /fasjson/v1/users/:username/': '401 403 200 401 200 200',
  'get /fasjson/v1/users/:username/agreements/': '401 403 200 401 200 200',
  'get /fasjson/v1/users/:username/groups/': '401 403 200 401 200 200',
  'get /healthz/live': '200 200 200 200 200 200',
  'get /healthz/ready': '200 200 200 200 200 200',
  'get /specs/v1.json': '200 200 200 200 200 200',
  'get /v1/accounts/:principal/': '401 403 403 401 200 403',
  'get /v1/certs/:serialNumber(\\d+)/': '401 403 404 401 404 404',
  'get /v1/certs/profiles/': '401 403 200 401 403 200',
  // Changes are not logged here.
  'get /v1/changes/': '401 403 404 401 404 404',
  'get /v1/groups/': '401 403 200 401 200 200',
  'get /v1/groups/:groupname/': '401 403 200 401 200 200',
  'get /v1/groups/:groupname/is-member/:username': '401 403 200 401 200 200',
  'get /v1/groups/:groupname/member-groups/': '401 403 200 401 200 200',
  'get /v1/groups/:groupname/members.csv': '401 403 403 401 403 200',
  'get /v1/groups/:groupname/history/': '401 403 404 401 404 404',
  'get /v1/groups/:groupname/members/': '401 403 200 401 200 200',
  'get /v1/groups/:groupname/memberships/': '401 403 200 401 200 200',
  'get /v1/groups/:groupname/sponsors/': '401 403 200 401 200 200',
  'get /v1/me/': '401 403 200 401 403 200',
  'get /v1/me/colleagues/': '401 403 200 401 403 200',
  'get /v1/me/operations/': '401 403 200 401 200 200',
  'get /v1/search/groups/': '401 403 400 401 400 400',
  'get /v1/search/users/': '401 403 400 401 400 400',
  'get /v1/users/': '401 403 200 401 200 200',
  'get /v1/users/:username/': '401 403 200 401 200 200',
  'get /v1/users/:username/agreements/': '401 403 200 401 200 200',
  'get /v1/users/:username/history/': '401 403 404 401 404 404',
  'get /v1/users/:username/certificates/': '401 403 200 401 200 200',
  'get /v1/users/:username/groups/': '401 403 200 401 200 200',
  'get /v1/users/:username/memberships/': '401 403 200 401 200 200',
  'get /v1/users/:username/sponsored-groups/': '401 403 200 401 200 200',
  'post /.backstage/actions/v1/actions/:actionId/invoke':
    '401 403 403 401 403 400',
  'post /.backstage/actions/v2/actions/:actionId/invoke':
    '401 403 403 401 403 400',
  'post /.backstage/scheduler/v1/tasks/:id/cancel': '401 404 404 404 404 404',
  'post /.backstage/scheduler/v1/tasks/:id/trigger': '401 404 404 404 404 404',
  'post /.well-known/backstage/permissions/apply-conditions':
    '401 403 403 403 400 403',
  'post /fasjson/v1/certs/': '401 403 400 401 403 400',
  'post /v1/certs/': '401 403 400 401 403 400',
  // Without credentials, these two require a proof of possession.
  'post /v1/certs/:serialNumber(\\d+)/renewal/': '401 403 400 401 403 400',
  'post /v1/certs/:serialNumber(\\d+)/revocation/': '401 403 403 401 403 400',
  'post /v1/certs/:serialNumber(\\d+)/renewal/nonce/':
    '200 200 200 200 200 200',
  'post /v1/certs/holds/approval/': '401 403 403 401 403 400',
  'put /v1/certs/:serialNumber(\\d+)/label/': '401 403 404 401 403 404',
};

type CallerName =
  | 'anonymous'
  | 'guest'
  | 'alice'
  | 'locked'
  | 'service'
  | 'dave'
  | 'bob';

let tokens: Record<Exclude<CallerName, 'anonymous'>, string>;
let group: string;
let serial: string;

const lock = (value: 'TRUE' | 'FALSE') =>
  site.realm.modify(`dn: uid=carol,cn=users,cn=accounts,${site.realm.baseDn}
changetype: modify
replace: nsAccountLock
nsAccountLock: ${value}
`);

beforeAll(async () => {
  const { gateway, realm } = site;
  const of = (principal: string) =>
    tokenByTicket(gateway, { realm, principal });
  await lock('FALSE');
  tokens = {
    guest: await guestToken(gateway),
    service: SERVICE,
    alice: await of('alice'),
    bob: await of('bob'),
    dave: await of('dave'),
    locked: await of('carol'),
  };
  const groups = await site.client.request('/v1/groups/', { as: 'alice' });
  [{ groupname: group }] = (
    groups.json as { result: { groupname: string }[] }
  ).result;
  const csr = makeCsr({ subject: '/CN=dave' });
  serial = serialOf(
    await site.client.request('/v1/certs/', {
      as: 'dave',
      ...form({ user: 'dave', csr }),
    }),
  );
});

const request = (who: CallerName, path: string, init: RequestInit = {}) =>
  fetch(`${site.gateway.baseUrl}/api/directory${path}`, {
    ...init,
    headers: {
      ...(who !== 'anonymous' && { Authorization: `Bearer ${tokens[who]}` }),
      ...init.headers,
    },
  });

const post = (who: CallerName, path: string, body = '') =>
  request(who, path, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': body.startsWith('{')
        ? 'application/json'
        : 'application/x-www-form-urlencoded',
    },
  });

const revoke = (who: CallerName) =>
  post(who, `/v1/certs/${serial}/revocation/`, 'reason=keyCompromise');
const revokeByAction = (who: CallerName) =>
  post(
    who,
    `${ACTIONS}/directory:revoke-certificate/invoke`,
    JSON.stringify({ serial, reason: 'keyCompromise' }),
  );
const acceptByAction = (who: CallerName) =>
  post(
    who,
    `${ACTIONS}/directory:override-deletion-guard/invoke`,
    JSON.stringify({ users: 1, groups: 1 }),
  );

const isRevoked = async () => {
  const response = await request('alice', `/v1/certs/${serial}/`);
  return (await response.json()).result.revoked;
};

describe('directory.access under an allow-all policy', () => {
  it.each<CallerName>(['alice', 'bob', 'guest', 'service'])(
    'denies operations without a rule to %s with a portal token',
    async who => {
      const exported = `/v1/groups/${group}/members.csv`;
      expect((await request(who, exported)).status).toBe(403);
      expect((await revoke(who)).status).toBe(403);
      expect((await revokeByAction(who)).status).toBe(403);
      expect((await acceptByAction(who)).status).toBe(403);
      expect(await isRevoked()).toBe(false);
    },
  );

  it('denies reads to bob by ticket and by portal token', async () => {
    const path = '/v1/users/alice/';
    expect(await site.client.request(path, { as: 'bob' })).toMatchObject({
      status: 403,
    });
    expect((await request('bob', path)).status).toBe(403);
    expect((await request('guest', path)).status).toBe(403);
    expect((await request('alice', path)).status).toBe(200);
    expect((await request('service', path)).status).toBe(200);
  });

  it('denies a certificate to bob', async () => {
    const csr = makeCsr({ subject: '/CN=bob' });
    const options = form({ user: 'bob', csr });
    const response = await request('bob', '/v1/certs/', options);
    expect(response.status).toBe(403);
  });

  it.each<[CallerName, string[], boolean]>([
    ['alice', [READ, SIGN], false],
    ['dave', [READ, SIGN, REVOKE, EXPORT, ACCEPT], false],
    ['service', [READ], false],
  ])('returns the operations of %s', async (who, operations, others) => {
    const response = await request(who, '/v1/me/operations/');
    expect(await response.json()).toEqual({
      result: { operations, signs_for_others: others },
    });
  });

  it('denies an export by ticket to a page of another site', async () => {
    const path = `/v1/groups/${group}/members.csv`;
    const headers = { 'Sec-Fetch-Site': 'cross-site' };
    const exportAs = (more: object) =>
      site.client.request(path, { as: 'dave', ...more });
    expect(await exportAs({ headers })).toMatchObject({ status: 403 });
    expect(await exportAs({})).toMatchObject({ status: 200 });
  });
});

describe('an account that is locked after sign-in', () => {
  beforeAll(async () => {
    await lock('TRUE');
    await eventually(async () => {
      const { status } = await request('locked', '/v1/me/');
      if (status !== 401) {
        throw new Error(`Not locked yet: ${status}`);
      }
    });
  });

  it('cannot invoke actions', async () => {
    for (const invoke of [revokeByAction, acceptByAction]) {
      const response = await invoke('locked');
      expect(response.status).toBe(401);
    }
    expect(await isRevoked()).toBe(false);
  });

  it('gets the expected status on every route', async () => {
    const response = await fetch(`${site.gateway.baseUrl}/routes`);
    const routes: string[] = await response.json();
    const found: Record<string, string> = {};
    for (const route of new Set(routes)) {
      const [method, path] = route.split(' /api/directory');
      if (path !== undefined && method !== 'options') {
        found[`${method} ${path}`] = await statusesOf(method, path);
      }
    }
    expect(found).toEqual(EXPECTED);
  });
});

describe('the audit log', () => {
  /** Metadata and status of each revocation event. */
  const revocations = () =>
    site.gateway
      .log()
      .split('\n')
      .filter(line => line.includes('directory.certificate-revoke'))
      .map(line => ({
        meta: JSON.parse(/meta\S*=(\{.*?\})/.exec(line)![1]),
        status: /status\S*="(\w+)"/.exec(line)![1],
      }));

  it.each<[CallerName, () => Promise<Response>, object, string]>([
    [
      'guest',
      () => revokeByAction('guest'),
      {
        actor: 'user:development/guest',
        credential: 'portalToken',
        address: '127.0.0.1',
      },
      'failed',
    ],
    [
      'service',
      () => revoke('service'),
      {
        actor: 'plugin:test',
        credential: 'serviceToken',
        address: '127.0.0.1',
      },
      'failed',
    ],
    [
      'dave',
      () => revokeByAction('dave'),
      {
        actor: 'user:default/dave',
        credential: 'portalToken',
        account: 'dave',
        address: '127.0.0.1',
        reason: 'keyCompromise',
      },
      'succeeded',
    ],
  ])('contains %s, the credential and the address', async (...row) => {
    const [, perform, meta, status] = row;
    await perform();
    await eventually(() =>
      expect(revocations().at(-1)).toMatchObject({
        meta: { ...meta, serialNumber: serial },
        status,
      }),
    );
  });

  it('contains the principal of a ticket', async () => {
    await site.client.request(`/v1/certs/${serial}/revocation/`, {
      as: 'alice',
      ...form({ reason: 'superseded' }),
    });
    await eventually(() =>
      expect(revocations().at(-1)).toMatchObject({
        meta: {
          actor: 'alice@EXAMPLE.TEST',
          credential: 'ticket',
          account: 'alice',
          address: '127.0.0.1',
          serialNumber: serial,
        },
        status: 'failed',
      }),
    );
  });
});

/** The statuses of a route, in the order of {@link EXPECTED}. */
async function statusesOf(method: string, path: string): Promise<string> {
  const { embedded } = embeddedAuthority(site.realm);
  const [, , issuer] = revocationListPath(embedded).split('/');
  const url = path
    .replace(':username', 'alice')
    .replace(':groupname', encodeURIComponent(group))
    .replace(':serialNumber(\\d+)', '1')
    .replace(':principal', 'alice@EXAMPLE.TEST')
    .replace(':issuer', issuer)
    .replace(':actionId', 'directory:override-deletion-guard')
    .replace(':id', 'unknown');
  const columns: CallerName[] = [
    'anonymous',
    'guest',
    'alice',
    'locked',
    'service',
    'dave',
  ];
  // Without a quarantine, the action returns 400.
  const counts = { users: 1, groups: 1 };
  const statuses = columns.map(async who => {
    const response = path.includes(':actionId')
      ? await post(who, url, JSON.stringify({ ...counts, input: counts }))
      : await request(who, url, { method: method.toUpperCase() });
    await response.arrayBuffer();
    return response.status;
  });
  return (await Promise.all(statuses)).join(' ');
}
