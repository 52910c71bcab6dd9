import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { allMayExport } from './__testUtils__/gateway/directoryConfig';
import { describeSessionRestarts } from './__testUtils__/gateway/describeSessionRestarts';
import { eventually } from './__testUtils__/eventually';
import {
  credentialsOutcome,
  NOBODY,
  SESSION_COOKIE,
  sessionIn,
  statusWithCookie,
  withCookie,
} from './__testUtils__/gateway/sessionCookies';
import { TestAuthority, startTlsFront } from './__testUtils__/ldap/TestAuthority';
import { TokenClient } from './__testUtils__/gateway/TokenClient';
import { withGateway } from './__testUtils__/gateway/withGateway';

jest.setTimeout(180_000);

const run = promisify(execFile);

const site = withGateway({
  configure: () => ({
    entry: 'packages/backend/src/index.ts',
    directory: {
      access: allMayExport,
      fasjson: { enabled: true, baseUrl: 'https://localhost/' },
      portalUsers: { namespace: 'default', username: 'entityName' },
    },
  }),
});
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'session-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function sessionOf(principal: string): Promise<string> {
  return sessionIn(await site.client.ask('/v1/me/', { as: principal }));
}

it('is given with a ticket, and is as good for reading', async () => {
  const jar = join(folder, 'alice');
  const first = await site.client.ask('/v1/me/', { as: 'alice', jar });
  expect(first.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      new RegExp(
        `^${SESSION_COOKIE}=[\\w.-]+; Max-Age=(899|900); Path=/api/directory; HttpOnly; SameSite=Strict$`,
      ),
    ),
  ]);
  expect(first.headers.get('vary')).toContain('Cookie');
  expect(first.headers.get('cache-control')).toMatch(/private/);

  for (const path of ['/v1/me/', '/v1/users/bob/', '/v1/groups/']) {
    const [by, withTicket] = [
      await site.client.ask(path, { jar }),
      await site.client.ask(path, { as: 'alice' }),
    ];
    expect(by.status).toBe(200);
    expect(by.json).toEqual(withTicket.json);
    expect(by.headers.getSetCookie()).toEqual([]);
    expect(by.headers.get('www-authenticate')).toBeNull();
  }
  expect(
    (await site.client.ask('/v1/me/', { jar, method: 'HEAD' })).status,
  ).toBe(200);
});

it('is bound to its principal, users and services alike', async () => {
  const principals = ['alice', 'bob', 'host/build1.example.test'];
  const names = await Promise.all(
    principals.map(async principal => {
      const answer = await site.client.ask(
        '/v1/me/',
        withCookie(await sessionOf(principal)),
      );
      return answer.json;
    }),
  );
  expect(names).toMatchObject([
    { result: { username: 'alice' } },
    { result: { username: 'bob' } },
    { result: { service: 'host/build1.example.test' } },
  ]);
});

it('is given whatever the answer, but to nobody who may not call', async () => {
  for (const path of ['/v1/users/nobody/', '/v1/nope/', '/v1/search/users/']) {
    sessionIn(await site.client.ask(path, { as: 'alice' }));
  }
  for (const principal of ['carol', 'eve', 'ghost']) {
    const { headers } = await site.client.ask('/v1/me/', { as: principal });
    expect(headers.getSetCookie()).toEqual([]);
  }
  const { headers } = await site.client.ask('/v1/me/');
  expect(headers.getSetCookie()).toEqual([]);
});

it('is not given again to who has it, and is not prolonged', async () => {
  const alice = await sessionOf('alice');
  const again = await site.client.ask('/v1/me/', {
    as: 'alice',
    ...withCookie(alice),
  });
  expect(again.headers.getSetCookie()).toEqual([]);
  const other = await site.client.ask('/v1/me/', {
    as: 'bob',
    ...withCookie(alice),
  });
  expect(other.json).toMatchObject({ result: { username: 'bob' } });
  expect(sessionIn(other)).not.toBe(alice);
});

it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'is nothing to %s',
  async method => {
    const options = { method, ...withCookie(await sessionOf('alice')) };
    for (const path of ['/v1/certs/', '/v1/me/', '/v1/certs/1/revoke/']) {
      expect(credentialsOutcome(await site.client.ask(path, options))).toEqual(
        NOBODY,
      );
    }
  },
);

describe('of a browser', () => {
  it.each([
    ['Sec-Fetch-Mode', 'cors'],
    ['Sec-Fetch-Site', 'none'],
    ['Sec-Fetch-Dest', 'empty'],
    ['sec-fetch-user', '?1'],
    ['SEC-FETCH-STORAGE-ACCESS', 'none'],
    ['Sec-Fetch-Whatever', ''],
    ['Origin', 'null'],
  ])('with %s: %s it is neither given nor taken', async (name, value) => {
    const header = { [name]: value };
    const session = await sessionOf('alice');
    const asked = await site.client.ask('/v1/me/', {
      as: 'bob',
      headers: header,
    });
    expect(asked.status).toBe(200);
    expect(asked.headers.getSetCookie()).toEqual([]);
    expect(
      credentialsOutcome(
        await site.client.ask('/v1/me/', {
          headers: { Cookie: session, ...header },
        }),
      ),
    ).toEqual(NOBODY);
  });
});

it('is nothing beside an Authorization header', async () => {
  const Cookie = await sessionOf('alice');
  for (const [Authorization, reason] of [
    ['', 'no_credentials'],
    ['Basic YTpi', 'no_credentials'],
    ['Bearer nope', 'no_credentials'],
    ['Negotiate AAAA', 'malformed_token'],
  ]) {
    const answer = await site.client.ask('/v1/me/', {
      headers: { Cookie, Authorization },
    });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ reason });
    expect(answer.headers.getSetCookie()).toEqual([]);
  }
});

it('is not given to holders of a portal token', async () => {
  const portal = await TokenClient.signIn(site.gateway);
  const { status, headers } = await portal.ask('/v1/me/');
  expect(status).toBe(200);
  expect(headers.getSetCookie()).toEqual([]);
});

it('is nothing when it is no good, or when there are two', async () => {
  const alice = await sessionOf('alice');
  const bob = await sessionOf('bob');
  const [, token] = alice.split('=');
  for (const cookies of [
    [alice, bob],
    [alice, alice],
    [`${SESSION_COOKIE}=planted`, alice],
    [`${SESSION_COOKIE}=`],
    [`${SESSION_COOKIE}=....`],
    [`${SESSION_COOKIE}=${token.replace('.', '%2E')}`],
    [`${SESSION_COOKIE}=${'A'.repeat(20_000)}`],
    [`__Secure-${alice}`],
    [token],
  ]) {
    expect(
      credentialsOutcome(
        await site.client.ask('/v1/me/', withCookie(...cookies)),
      ),
    ).toEqual(NOBODY);
  }
  const among = withCookie('a=b', alice, '__Host-x=y; broken');
  expect((await site.client.ask('/v1/me/', among)).status).toBe(200);
});

it('ends in 401 with any character of it changed', async () => {
  const [, token] = (await sessionOf('alice')).split('=');
  const statusWith = (text: string) =>
    statusWithCookie(site.gateway, `${SESSION_COOKIE}=${text}`);
  expect(await statusWith(token)).toBe(200);
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A';
    const changed = token.slice(0, at) + other + token.slice(at + 1);
    expect(await statusWith(changed)).toBe(401);
  }
});

it('ends when the account is locked', async () => {
  const lock = (value: string) =>
    site.realm.modify(`dn: uid=dave,cn=users,cn=accounts,${site.realm.baseDn}
changetype: modify
replace: nsAccountLock
nsAccountLock: ${value}
`);
  const session = withCookie(await sessionOf('dave'));
  expect((await site.client.ask('/v1/me/', session)).status).toBe(200);
  await lock('TRUE');
  await eventually(async () => {
    const answer = await site.client.ask('/v1/me/', session);
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ reason: 'account_locked' });
  });
  await lock('FALSE');
});

it('over https, and for clients of FASJSON, has their address', async () => {
  const authority = await TestAuthority.create();
  const front = await startTlsFront(
    await authority.issue({ host: 'localhost', days: 1 }),
    site.gateway.baseUrl,
  );
  const jar = join(folder, 'fasjson');
  const ask = async (ticket: string, ...options: string[]) => {
    const { stdout } = await run(
      'curl',
      [
        ...['--silent', '--include', '--cacert', authority.caFile],
        ...['--cookie', jar, '--cookie-jar', jar, ...options],
        `${front.url.replace('ldaps:', 'https:')}/api/directory/fasjson/v1/me/`,
      ],
      {
        env: {
          ...process.env,
          KRB5_CONFIG: site.realm.krb5Config,
          KRB5CCNAME: ticket,
        },
      },
    );
    return stdout;
  };
  try {
    expect(
      await ask(await site.realm.ticket('alice'), '--negotiate', '--user', ':'),
    ).toMatch(
      /^Set-Cookie: __Secure-directory-session=[\w.-]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict\r$/m,
    );
    expect(await ask('MEMORY:none')).toMatch(/^HTTP\/1.1 200 /);
  } finally {
    front.stop();
    await authority.remove();
  }
});

it('is in no log', async () => {
  const alice = await sessionOf('alice');
  const [, token] = alice.split('=');
  await site.client.ask('/v1/groups/design/members.csv', withCookie(alice));
  await site.client.ask('/v1/me/', withCookie(`${alice}A`));
  const secrets = token.split('.').filter(part => part !== '');
  expect(secrets).toHaveLength(4);
  const log = site.gateway.log();
  expect(log).toContain('GET /api/directory/v1/groups/design/members.csv 200');
  for (const secret of secrets) {
    expect(log).not.toContain(secret);
  }
  expect(log).not.toContain(SESSION_COOKIE);
});

describeSessionRestarts(site);
