import type { JsonObject } from '@backstage/types';
import { startRealm, type Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GatewayClient, type Answer } from './__testUtils__/GatewayClient';
import { startGateway, type Gateway } from './__testUtils__/startGateway';
import { startTlsFront } from './__testUtils__/startTlsFront';
import { TestAuthority } from './__testUtils__/TestAuthority';
import { TokenClient } from './__testUtils__/TokenClient';

jest.setTimeout(180_000);

const run = promisify(execFile);

const NAME = 'directory-session';

let realm: Realm;
let gateway: Gateway;
let client: GatewayClient;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'session-'));
  realm = await startRealm();
  gateway = await startGateway({
    realm,
    entry: 'packages/backend/src/index.ts',
    directory: {
      fasjson: { enabled: true, baseUrl: 'https://localhost/' },
      portalUsers: { namespace: 'default', username: 'entityName' },
    },
  });
  client = new GatewayClient({ gateway, realm });
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The name and value of the cookie in an answer. */
function given({ headers }: Answer): string {
  const [cookie, ...others] = headers.getSetCookie();
  expect(others).toEqual([]);
  return cookie.split(';')[0];
}

async function sessionOf(principal: string): Promise<string> {
  return given(await client.ask('/v1/me/', { as: principal }));
}

const withCookie = (...cookies: string[]) => ({
  headers: { Cookie: cookies.join('; ') },
});

/** What a program without a ticket needs to know. */
function outline({ status, headers, json }: Answer) {
  const { reason } = json as { readonly reason?: string };
  return { status, reason, challenge: headers.get('www-authenticate') };
}

/** That of a request without any credentials. */
const NOBODY = {
  status: 401,
  reason: 'no_credentials',
  challenge: 'Negotiate',
};

it('is given with a ticket, and is as good for reading', async () => {
  const jar = join(folder, 'alice');
  const first = await client.ask('/v1/me/', { as: 'alice', jar });
  expect(first.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      new RegExp(
        `^${NAME}=[\\w.-]+; Max-Age=(899|900); Path=/api/directory; HttpOnly; SameSite=Strict$`,
      ),
    ),
  ]);
  expect(first.headers.get('vary')).toContain('Cookie');
  expect(first.headers.get('cache-control')).toMatch(/private/);

  for (const path of ['/v1/me/', '/v1/users/bob/', '/v1/groups/']) {
    const [by, withTicket] = [
      await client.ask(path, { jar }),
      await client.ask(path, { as: 'alice' }),
    ];
    expect(by.status).toBe(200);
    expect(by.json).toEqual(withTicket.json);
    expect(by.headers.getSetCookie()).toEqual([]);
    expect(by.headers.get('www-authenticate')).toBeNull();
  }
  expect((await client.ask('/v1/me/', { jar, method: 'HEAD' })).status).toBe(
    200,
  );
});

it('is bound to its principal, users and services alike', async () => {
  const principals = ['alice', 'bob', 'host/build1.example.test'];
  const names = await Promise.all(
    principals.map(async principal => {
      const answer = await client.ask(
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
    given(await client.ask(path, { as: 'alice' }));
  }
  for (const principal of ['carol', 'eve', 'ghost']) {
    const { headers } = await client.ask('/v1/me/', { as: principal });
    expect(headers.getSetCookie()).toEqual([]);
  }
  const { headers } = await client.ask('/v1/me/');
  expect(headers.getSetCookie()).toEqual([]);
});

it('is not given again to who has it, and is not prolonged', async () => {
  const alice = await sessionOf('alice');
  const again = await client.ask('/v1/me/', {
    as: 'alice',
    ...withCookie(alice),
  });
  expect(again.headers.getSetCookie()).toEqual([]);
  const other = await client.ask('/v1/me/', {
    as: 'bob',
    ...withCookie(alice),
  });
  expect(other.json).toMatchObject({ result: { username: 'bob' } });
  expect(given(other)).not.toBe(alice);
});

it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'is nothing to %s',
  async method => {
    const options = { method, ...withCookie(await sessionOf('alice')) };
    for (const path of ['/v1/certs/', '/v1/me/', '/v1/certs/1/revoke/']) {
      expect(outline(await client.ask(path, options))).toEqual(NOBODY);
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
    const asked = await client.ask('/v1/me/', { as: 'bob', headers: header });
    expect(asked.status).toBe(200);
    expect(asked.headers.getSetCookie()).toEqual([]);
    expect(
      outline(
        await client.ask('/v1/me/', {
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
    const answer = await client.ask('/v1/me/', {
      headers: { Cookie, Authorization },
    });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({ reason });
    expect(answer.headers.getSetCookie()).toEqual([]);
  }
});

it('is not given to holders of a portal token', async () => {
  const portal = await TokenClient.signIn(gateway);
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
    [`${NAME}=planted`, alice],
    [`${NAME}=`],
    [`${NAME}=....`],
    [`${NAME}=${token.replace('.', '%2E')}`],
    [`${NAME}=${'A'.repeat(20_000)}`],
    [`__Secure-${alice}`],
    [token],
  ]) {
    expect(
      outline(await client.ask('/v1/me/', withCookie(...cookies))),
    ).toEqual(NOBODY);
  }
  const among = withCookie('a=b', alice, '__Host-x=y; broken');
  expect((await client.ask('/v1/me/', among)).status).toBe(200);
});

it('ends in 401 with any character of it changed', async () => {
  const [, token] = (await sessionOf('alice')).split('=');
  const { port } = new URL(gateway.baseUrl);
  const statusWith = (cookie: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({
        ...{ host: 'localhost', port, path: '/api/directory/v1/me/' },
        headers: { cookie: `${NAME}=${cookie}` },
      })
        .on('response', response => {
          response.resume();
          resolve(response.statusCode);
        })
        .on('error', reject)
        .end();
    });
  expect(await statusWith(token)).toBe(200);
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A';
    const changed = token.slice(0, at) + other + token.slice(at + 1);
    expect(await statusWith(changed)).toBe(401);
  }
});

it('ends within five seconds of a lock', async () => {
  const lock = (value: string) =>
    realm.modify(`dn: uid=dave,cn=users,cn=accounts,${realm.baseDn}
changetype: modify
replace: nsAccountLock
nsAccountLock: ${value}
`);
  const session = withCookie(await sessionOf('dave'));
  expect((await client.ask('/v1/me/', session)).status).toBe(200);
  await lock('TRUE');
  const until = Date.now() + 5000;
  let answer = await client.ask('/v1/me/', session);
  while (answer.status === 200 && Date.now() < until) {
    answer = await client.ask('/v1/me/', session);
  }
  await lock('FALSE');
  expect(answer.status).toBe(401);
  expect(answer.json).toMatchObject({ reason: 'account_locked' });
});

it('over https, and for clients of FASJSON, has their address', async () => {
  const authority = await TestAuthority.create();
  const front = await startTlsFront(
    await authority.issue({ host: 'localhost', days: 1 }),
    gateway.baseUrl,
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
          KRB5_CONFIG: realm.krb5Config,
          KRB5CCNAME: ticket,
        },
      },
    );
    return stdout;
  };
  try {
    expect(
      await ask(await realm.ticket('alice'), '--negotiate', '--user', ':'),
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
  await client.ask('/v1/groups/design/members.csv', withCookie(alice));
  await client.ask('/v1/me/', withCookie(`${alice}A`));
  const secrets = token.split('.').filter(part => part !== '');
  expect(secrets).toHaveLength(4);
  const log = gateway.log();
  expect(log).toContain('GET /api/directory/v1/groups/design/members.csv 200');
  for (const secret of secrets) {
    expect(log).not.toContain(secret);
  }
  expect(log).not.toContain(NAME);
});

describe('from one start to the next', () => {
  const [old, next] = [32, 48].map(bytes => randomBytes(bytes));
  let port: number | undefined;

  /** What becomes of a session after a start with other settings. */
  async function restarted<T>(
    sessions: JsonObject,
    use: (restarted: GatewayClient) => Promise<T>,
  ): Promise<T> {
    const another = await startGateway({
      ...{ realm, port, directory: { sessions } },
    });
    port = Number(new URL(another.baseUrl).port);
    try {
      return await use(new GatewayClient({ gateway: another, realm }));
    } finally {
      await another.stop();
    }
  }

  it('opens with the keys of the configuration, the first of which seals', async () => {
    const secretFile = join(folder, 'session-key');
    await writeFile(secretFile, `${old.toString('hex')}\n`);
    const first = await restarted({ keys: [{ secretFile }] }, async asked =>
      given(await asked.ask('/v1/me/', { as: 'alice' })),
    );
    const second = await restarted(
      { keys: [{ secret: next.toString('base64') }, { secretFile }] },
      async asked => {
        const answer = await asked.ask('/v1/me/', withCookie(first));
        expect(answer.json).toMatchObject({ result: { username: 'alice' } });
        return given(await asked.ask('/v1/me/', { as: 'alice' }));
      },
    );
    await restarted(
      { keys: [{ secret: next.toString('base64') }] },
      async asked => {
        expect(outline(await asked.ask('/v1/me/', withCookie(first)))).toEqual(
          NOBODY,
        );
        const answer = await asked.ask('/v1/me/', withCookie(second));
        expect(answer.status).toBe(200);
      },
    );
    await restarted({}, async asked => {
      expect(outline(await asked.ask('/v1/me/', withCookie(second)))).toEqual(
        NOBODY,
      );
    });
    await restarted({ enabled: false }, async asked => {
      const { headers, status } = await asked.ask('/v1/me/', { as: 'alice' });
      expect(status).toBe(200);
      expect(headers.getSetCookie()).toEqual([]);
    });
    expect(await readFile(secretFile, 'utf8')).not.toBe('');
  });

  it('does not start with a key that is no good', async () => {
    const secret = randomBytes(16).toString('base64');
    const failure = await restarted(
      { keys: [{ secret }] },
      async () => 'started',
    ).catch(String);
    expect(failure).toMatch(
      /directory\.sessions\.keys\[0\]\.secret has 16 bytes/,
    );
    expect(failure).not.toContain(secret);
  });

  it('ends when its time is over', async () => {
    await restarted({ maxAge: { seconds: 2 } }, async asked => {
      const session = await asked.ask('/v1/me/', { as: 'alice' });
      const cookie = withCookie(given(session));
      const until = Date.now() + 10_000;
      let answer = await asked.ask('/v1/me/', cookie);
      expect(answer.status).toBe(200);
      while (answer.status === 200 && Date.now() < until) {
        answer = await asked.ask('/v1/me/', cookie);
      }
      expect(outline(answer)).toEqual(NOBODY);
    });
  });
});
