import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  eventually,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import { makeCsr } from '../__testUtils__/certificates/makeCsr';
import { form, serialOf } from '../__testUtils__/gateway/GatewayClient';
import { revocationListPath } from '../__testUtils__/certificates/issuerFiles';
import { embeddedAuthority } from '../__testUtils__/gateway/directoryConfig';
import { guestToken, tokenByTicket } from '../__testUtils__/gateway/signIn';
import { withGateway } from '../__testUtils__/gateway/withGateway';

jest.setTimeout(600_000);

const SERVICE = 'a-token-of-another-plugin';
const READ = 'directory.read';
const SIGN = 'directory.certificate.sign';
const REVOKE = 'directory.certificate.revoke';
const EXPORT = 'directory.members.export';
const ACCEPT = 'directory.replica.override';
const HISTORY = 'directory.history.read';
const ACTIONS = '/.backstage/actions/v1/actions';
const HOST = 'host/build1.example.test';
const BOT = 'bot/builder.example.test';

/** A group that alice sponsors. */
const GROUP = 'packager';

/**
 * The plugin with the permission framework disabled, which is an allow-all
 * policy: bob may not perform operations, dave may perform all, other callers
 * those that are open to all users by default.
 */
const site = withGateway({
  configure: realm => ({
    guest: 'user:development/guest',
    serviceToken: SERVICE,
    kerberosSignIn: { resolvers: [{ resolver: 'directoryUser' }] },
    env: {
      NODE_OPTIONS: `--require ${resolve(
        __dirname,
        '../__testUtils__/gateway/listRoutes.cjs',
      )}`,
    },
    directory: {
      access: [
        {
          principals: ['alice', 'dave', 'carol', 'x', 'admin', HOST, BOT],
          portalUsers: ['*'],
          operations: [READ, SIGN],
        },
        {
          principals: ['dave'],
          operations: [REVOKE, EXPORT, ACCEPT, HISTORY],
        },
      ],
      changes: { history: true },
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

/** The columns of {@link EXPECTED}. */
const CALLERS = [
  'anonymous',
  // A portal user without a directory account.
  'guest',
  // Users with a portal token, whose accounts are served.
  'alice',
  'dave',
  // A user with a portal token whose account was locked or deleted.
  'locked',
  'deleted',
  // Principals with a ticket. The user admin is not served.
  'admin',
  HOST,
  BOT,
  // Another plugin.
  'service',
] as const;

/**
 * Every route below `/api/directory`, and every action, by the status for each
 * of {@link CALLERS}. dave is an administrator. No caller gets 5xx.
 */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  '401 204 204 204 204 204 401 401 401 204': [
    'delete /.backstage/auth/v1/cookie',
  ],
  '200 200 200 200 200 200 200 200 200 200': [
    'get /',
    'get /.backstage/auth/v1/jwks.json',
    'get /ca/:issuer/certificate',
    'get /ca/:issuer/crl',
    'get /docs/v1',
    'get /docs/v1/explorer.css',
    'get /docs/v1/explorer.js',
    'get /docs/v1/favicon.png',
    'get /docs/v1/swagger-ui-bundle.js',
    'get /docs/v1/swagger-ui.css',
    'get /fasjson',
    'get /fasjson/docs/v1',
    'get /fasjson/docs/v1/explorer.css',
    'get /fasjson/docs/v1/explorer.js',
    'get /fasjson/docs/v1/favicon.png',
    'get /fasjson/docs/v1/swagger-ui-bundle.js',
    'get /fasjson/docs/v1/swagger-ui.css',
    'get /fasjson/healthz/live',
    'get /fasjson/healthz/ready',
    'get /fasjson/specs/v1.json',
    'get /healthz/live',
    'get /healthz/ready',
    'get /specs/v1.json',
  ],
  '401 200 200 200 200 200 401 401 401 200': [
    'get /.backstage/actions/v1/actions',
    'get /.backstage/scheduler/v1/tasks',
    'get /.well-known/backstage/permissions/metadata',
  ],
  '401 403 403 403 403 403 401 401 401 200': [
    'get /.backstage/actions/v1/status',
    'post /.well-known/backstage/permissions/apply-conditions',
  ],
  '401 200 200 200 200 200 401 401 401 403': ['get /.backstage/auth/v1/cookie'],
  '401 200 200 200 401 401 200 200 200 200': [
    'get /fasjson/v1/certs/:serialNumber(\\d+)/',
    'get /fasjson/v1/groups/',
    'get /fasjson/v1/groups/:groupname/',
    'get /fasjson/v1/groups/:groupname/is-member/:username',
    'get /fasjson/v1/groups/:groupname/members/',
    'get /fasjson/v1/groups/:groupname/sponsors/',
    'get /fasjson/v1/search/users/',
    'get /fasjson/v1/users/',
    'get /fasjson/v1/users/:username/',
    'get /fasjson/v1/users/:username/agreements/',
    'get /fasjson/v1/users/:username/groups/',
    'get /v1/certs/:serialNumber(\\d+)/',
    'get /v1/changes/',
    'get /v1/groups/',
    'get /v1/groups/:groupname/',
    'get /v1/groups/:groupname/is-member/:username',
    'get /v1/groups/:groupname/member-groups/',
    'get /v1/groups/:groupname/members/',
    'get /v1/groups/:groupname/memberships/',
    'get /v1/groups/:groupname/sponsors/',
    'get /v1/me/operations/',
    'get /v1/search/groups/',
    'get /v1/search/users/',
    'get /v1/users/',
    'get /v1/users/:username/',
    'get /v1/users/:username/agreements/',
    'get /v1/users/:username/certificates/',
    'get /v1/users/:username/groups/',
    'get /v1/users/:username/memberships/',
    'get /v1/users/:username/sponsored-groups/',
  ],
  '401 403 200 200 401 401 200 200 200 403': [
    'get /fasjson/v1/me/',
    'get /v1/certs/profiles/',
    'get /v1/me/',
    'get /v1/me/colleagues/',
  ],
  '401 403 403 403 401 401 403 403 403 200': ['get /v1/accounts/:principal/'],
  '401 403 200 200 401 401 403 403 403 403': [
    'get /v1/groups/:groupname/history/',
    'get /v1/users/:username/history/',
  ],
  '401 403 403 200 401 401 403 403 403 403': [
    'get /v1/groups/:groupname/members.csv',
    'post /v1/certs/:serialNumber(\\d+)/renewal/',
    'post /v1/certs/:serialNumber(\\d+)/revocation/',
    'put /v1/certs/:serialNumber(\\d+)/label/',
  ],
  '401 403 403 200 401 401 401 401 401 403': [
    'post /.backstage/actions/v1/actions/directory:override-hold-limit/invoke',
    'post /.backstage/actions/v1/actions/directory:revoke-certificate/invoke',
    'post /.backstage/actions/v2/actions/directory:override-hold-limit/invoke',
    'post /.backstage/actions/v2/actions/directory:revoke-certificate/invoke',
  ],
  '401 403 403 400 401 401 401 401 401 403': [
    'post /.backstage/actions/v1/actions/directory:override-deletion-guard/invoke',
    'post /.backstage/actions/v2/actions/directory:override-deletion-guard/invoke',
  ],
  '401 404 404 404 404 404 401 401 401 404': [
    'post /.backstage/scheduler/v1/tasks/:id/cancel',
    'post /.backstage/scheduler/v1/tasks/:id/trigger',
  ],
  '401 400 200 200 401 401 200 400 400 403': ['post /fasjson/v1/certs/'],
  '401 403 200 200 401 401 200 400 400 403': ['post /v1/certs/'],
};

type CallerName = (typeof CALLERS)[number] | 'bob';

const TICKETS: ReadonlySet<CallerName> = new Set(['admin', HOST, BOT]);

/** Accounts that callers request certificates for. Default: their own name. */
const ACCOUNTS: Partial<Record<CallerName, string>> = {
  anonymous: 'alice',
  guest: 'alice',
  locked: 'carol',
  deleted: 'x',
  service: 'alice',
};

/** Portal tokens and the token of the service. */
let tokens: Partial<Record<CallerName, string>>;
/** A certificate of dave. */
let serial: string;
/** Another one, which is revoked. */
let revocable: string;
/** A position in the change log. */
let cursor: string;

const lock = (value: 'TRUE' | 'FALSE') =>
  site.realm.modify(`dn: ${userDn('carol')}
changetype: modify
replace: nsAccountLock
nsAccountLock: ${value}
`);

/** Returns the serial number of a new certificate of dave. */
const sign = async () => {
  const csr = makeCsr({ subject: '/CN=dave' });
  const options = form({ user: 'dave', csr });
  return serialOf(
    await site.client.request('/v1/certs/', { as: 'dave', ...options }),
  );
};

const request = (who: CallerName, path: string, init: RequestInit = {}) =>
  fetch(`${site.gateway.baseUrl}/api/directory${path}`, {
    ...init,
    headers: {
      ...(tokens[who] && { Authorization: `Bearer ${tokens[who]}` }),
      ...init.headers,
    },
  });

/** Waits until a request returns a status. */
const untilStatus = (expected: number, who: CallerName, path: string) =>
  eventually(async () => {
    const { status } = await request(who, path);
    if (status !== expected) {
      throw new Error(`The status of ${path} is ${status}`);
    }
  });

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
    deleted: await of('x'),
  };
  serial = await sign();
  revocable = await sign();
  // Histories are available when the change log contains all entries.
  await untilStatus(200, 'dave', `/v1/groups/${GROUP}/history/`);
  const changes = await request('dave', '/v1/changes/');
  ({ cursor } = await changes.json());
});

/** Returns a body, JSON or a form, and its type. */
const withBody = (body: string) => ({
  body,
  headers: {
    'Content-Type': body.startsWith('{')
      ? 'application/json'
      : 'application/x-www-form-urlencoded',
  },
});

const post = (who: CallerName, path: string, body: string) =>
  request(who, path, { method: 'POST', ...withBody(body) });

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
  it('denies everything to bob by ticket and by portal token', async () => {
    const path = '/v1/users/alice/';
    const csr = makeCsr({ subject: '/CN=bob' });
    const denied = [
      await site.client.request(path, { as: 'bob' }),
      await request('bob', path),
      await request('bob', `/v1/groups/${GROUP}/members.csv`),
      await request('bob', '/v1/certs/', form({ user: 'bob', csr })),
      await revoke('bob'),
      await revokeByAction('bob'),
      await acceptByAction('bob'),
    ];
    expect(denied.map(({ status }) => status)).toEqual(Array(7).fill(403));
    expect(await isRevoked()).toBe(false);
  });

  it.each<[CallerName, string[], boolean]>([
    ['alice', [READ, SIGN], false],
    ['dave', [READ, SIGN, REVOKE, EXPORT, HISTORY, ACCEPT], false],
    ['service', [READ], false],
  ])('returns the operations of %s', async (who, operations, others) => {
    const response = await request(who, '/v1/me/operations/');
    expect(await response.json()).toEqual({
      result: {
        operations,
        signs_for_others: others,
        certificate_authority: { can_revoke: true, can_hold: false },
        hidden_fields: expect.any(Array),
      },
    });
  });

  it('denies an export by ticket to a page of another site', async () => {
    const path = `/v1/groups/${GROUP}/members.csv`;
    const headers = { 'Sec-Fetch-Site': 'cross-site' };
    const exportAs = (more: object) =>
      site.client.request(path, { as: 'dave', ...more });
    expect(await exportAs({ headers })).toMatchObject({ status: 403 });
    expect(await exportAs({})).toMatchObject({ status: 200 });
  });
});

describe('every route', () => {
  /** Statuses in the order of {@link CALLERS}, by route. */
  const found: Record<string, string> = {};

  beforeAll(async () => {
    const { gateway, realm } = site;
    await lock('TRUE');
    await realm.modify(`dn: ${userDn('x')}\nchangetype: delete\n`);
    await untilStatus(401, 'locked', '/v1/me/');
    await untilStatus(401, 'deleted', '/v1/me/');
    // A renewal requires a portal token that is at most 5 minutes old.
    tokens.dave = await tokenByTicket(gateway, { realm, principal: 'dave' });
    const response = await fetch(`${gateway.baseUrl}/routes`);
    const routes: string[] = await response.json();
    for (const route of new Set(routes.flatMap(withActions))) {
      const [method, path] = route.split(' /api/directory');
      if (path !== undefined && method !== 'options') {
        const statuses = CALLERS.map(who => statusOf(who, { method, path }));
        found[`${method} ${path}`] = (await Promise.all(statuses)).join(' ');
      }
    }
  });

  it('does not fail for any caller', () => {
    const failed = Object.entries(found).filter(([, statuses]) =>
      /\b5\d\d\b/.test(statuses),
    );
    expect(failed).toEqual([]);
  });

  it('returns the expected status to each caller', () => {
    const expected = Object.entries(EXPECTED).flatMap(([statuses, routes]) =>
      routes.map(route => [route, statuses]),
    );
    expect(found).toEqual(Object.fromEntries(expected));
  });
});

describe('the audit log', () => {
  /** Metadata and status of each event of a kind. */
  const events = (id: string) =>
    site.gateway
      .log()
      .split('\n')
      .filter(line => line.includes(`directory.${id}`))
      .map(line => ({
        meta: JSON.parse(/meta\S*=(\{.*?\})/.exec(line)![1]),
        status: /status\S*="(\w+)"/.exec(line)![1],
      }));
  const revocations = () => events('certificate-revoke');

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

  it('contains an operation that fails', async () => {
    // There is no quarantine.
    expect((await acceptByAction('dave')).status).toBe(400);
    await eventually(() =>
      expect(events('deletion-guard-override').at(-1)).toMatchObject({
        meta: { actor: 'user:default/dave' },
        status: 'failed',
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

interface Route {
  readonly method: string;
  /** Template of a path below `/api/directory`. */
  readonly path: string;
}

/** Inputs of the actions by ID. */
const actionInputs = (): Readonly<Record<string, object>> => ({
  'directory:override-deletion-guard': { users: 1, groups: 1 },
  'directory:revoke-certificate': { serial: revocable, reason: 'superseded' },
  'directory:override-hold-limit': { count: 1 },
});

/** Replaces the route of an action by the routes of all actions. */
function withActions(route: string): readonly string[] {
  return Object.keys(actionInputs()).map(id => route.replace(':actionId', id));
}

/** Returns the status of a request that passes the checks of parameters. */
async function statusOf(who: CallerName, route: Route): Promise<string> {
  const { embedded } = embeddedAuthority(site.realm);
  const [, , issuer] = revocationListPath(embedded).split('/');
  const isRevoking = route.path.includes('/revocation/');
  const path = route.path
    .replace(':username', 'alice')
    .replace(':groupname', GROUP)
    .replace(':serialNumber(\\d+)', isRevoking ? revocable : serial)
    .replace(':principal', 'alice@EXAMPLE.TEST')
    .replace(':issuer', issuer)
    .replace(':id', 'unknown');
  const method = route.method.toUpperCase();
  const input = inputOf(who, route);
  const url = method === 'GET' ? `${path}${input}` : path;
  const init = { method, ...(method !== 'GET' && withBody(input)) };
  if (TICKETS.has(who)) {
    return statusByTicket(who, url, init);
  }
  const response = await request(who, url, init);
  await response.arrayBuffer();
  return String(response.status);
}

/** Sends a request with a SPNEGO token. */
async function statusByTicket(
  principal: string,
  path: string,
  init: { method: string; body?: string; headers?: Record<string, string> },
): Promise<string> {
  const { body, headers = {}, method } = init;
  const { stdout } = await promisify(execFile)(
    'curl',
    [
      ...['--silent', '--show-error', '--negotiate', '--user', ':'],
      ...['--output', '/dev/null', '--write-out', '%{http_code}'],
      ...Object.entries(headers).flatMap(([name, value]) => [
        '--header',
        `${name}: ${value}`,
      ]),
      ...(body === undefined ? [] : ['--data-binary', body]),
      ...['--request', method, '--globoff'],
      `${site.gateway.baseUrl}/api/directory${path}`,
    ],
    {
      env: {
        ...process.env,
        KRB5_CONFIG: site.realm.krb5Config,
        KRB5CCNAME: await site.realm.ticket(principal),
      },
    },
  );
  return stdout;
}

/** Returns the query of a GET, or the body of another request. */
function inputOf(who: CallerName, route: Route): string {
  const csrOf = (name: string) => makeCsr({ subject: `/CN=${name}` });
  const path = route.path.replace(/^\/fasjson\//, '/');
  switch (`${route.method} ${path}`) {
    case 'get /v1/changes/':
      return `?cursor=${cursor}`;
    case 'get /v1/groups/:groupname/members.csv':
    case 'get /v1/groups/:groupname/memberships/':
      return '?sort=joined';
    case 'get /v1/search/groups/':
      return '?member=alice';
    case 'get /v1/search/users/':
      return `?username=alice&group=${GROUP}`;
    case 'post /.well-known/backstage/permissions/apply-conditions':
      return JSON.stringify({ items: [] });
    case 'post /v1/certs/': {
      const user = ACCOUNTS[who] ?? who;
      const csr = csrOf(user.split('/')[0]);
      return String(new URLSearchParams({ user, csr }));
    }
    case 'post /v1/certs/:serialNumber(\\d+)/renewal/':
      return String(new URLSearchParams({ csr: csrOf('dave') }));
    case 'post /v1/certs/:serialNumber(\\d+)/revocation/':
      return 'reason=superseded';
    case 'put /v1/certs/:serialNumber(\\d+)/label/':
      return 'label=laptop';
    default: {
      const input = actionInputs()[path.split('/').at(-2) ?? ''];
      // Version 2 reads `input`.
      return input ? JSON.stringify({ ...input, input }) : '';
    }
  }
}
