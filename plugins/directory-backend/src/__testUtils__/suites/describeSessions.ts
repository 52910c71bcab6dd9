/* eslint-disable jest/no-export -- a suite of wholePortal.integration.test.ts */
import type { Realm } from '@directory-gateway/realm';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { GatewayClient } from '../gateway/GatewayClient';
import { HttpClient } from '../gateway/HttpClient';
import {
  credentialsOutcome,
  NO_CREDENTIALS,
  SESSION_COOKIE,
  sessionIn,
  withCookie,
} from '../gateway/sessionCookies';
import { startGateway } from '../gateway/startGateway';
import type { Site } from '../gateway/withGateway';

/** First session key of a second process. */
const nextKey = randomBytes(48).toString('base64');

const keyFileOf = (realm: Realm) => join(realm.dir, 'session-key');

/** Writes the session key of the first process and returns its path. */
export async function writeSessionKey(realm: Realm): Promise<string> {
  const key = randomBytes(32).toString('hex');
  await writeFile(keyFileOf(realm), `${key}\n`, { mode: 0o600 });
  return keyFileOf(realm);
}

/** Suite of session cookies; the guest is a user of the directory. */
export function describeSessions(site: Site): void {
  describe('sessions', () => {
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'session-'));
    });

    afterAll(() => rm(folder, { recursive: true, force: true }));

    async function sessionOf(principal: string): Promise<string> {
      return sessionIn(await site.client.request('/v1/me/', { as: principal }));
    }

    it('issues a session for a ticket that authenticates reads', async () => {
      const jar = join(folder, 'alice');
      const first = await site.client.request('/v1/me/', { as: 'alice', jar });
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
        const [withCookieJar, withTicket] = [
          await site.client.request(path, { jar }),
          await site.client.request(path, { as: 'alice' }),
        ];
        expect(withCookieJar.status).toBe(200);
        expect(withCookieJar.json).toEqual(withTicket.json);
        expect(withCookieJar.headers.getSetCookie()).toEqual([]);
        expect(withCookieJar.headers.get('www-authenticate')).toBeNull();
      }
      expect(
        (await site.client.request('/v1/me/', { jar, method: 'HEAD' })).status,
      ).toBe(200);
    });

    it('issues sessions to users, hosts and services', async () => {
      const principals = ['alice', 'bob', 'host/build1.example.test'];
      const names = await Promise.all(
        principals.map(async principal => {
          const response = await site.client.request(
            '/v1/me/',
            withCookie(await sessionOf(principal)),
          );
          return response.json;
        }),
      );
      expect(names).toMatchObject([
        { result: { username: 'alice' } },
        { result: { username: 'bob' } },
        { result: { service: 'host/build1.example.test' } },
      ]);
    });

    it('issues a session even with an error, but not to callers who may not sign in', async () => {
      for (const path of [
        '/v1/users/nobody/',
        '/v1/nope/',
        '/v1/search/users/',
      ]) {
        sessionIn(await site.client.request(path, { as: 'alice' }));
      }
      for (const principal of ['carol', 'eve', 'ghost']) {
        const { headers } = await site.client.request('/v1/me/', {
          as: principal,
        });
        expect(headers.getSetCookie()).toEqual([]);
      }
      const { headers } = await site.client.request('/v1/me/');
      expect(headers.getSetCookie()).toEqual([]);
    });

    it('does not accept a session for a write, or with a header of browsers', async () => {
      const session = withCookie(await sessionOf('alice'));
      const { headers } = session;
      for (const options of [
        { method: 'POST', headers },
        { headers: { ...headers, 'Sec-Fetch-Site': 'none' } },
      ]) {
        expect(
          credentialsOutcome(await site.client.request('/v1/certs/', options)),
        ).toEqual(NO_CREDENTIALS);
      }
    });

    it('ignores a session when there is an Authorization header', async () => {
      const Cookie = await sessionOf('alice');
      for (const [Authorization, reason] of [
        ['', 'no_credentials'],
        ['Basic YTpi', 'no_credentials'],
        ['Bearer nope', 'no_credentials'],
        ['Negotiate AAAA', 'malformed_token'],
      ]) {
        const response = await site.client.request('/v1/me/', {
          headers: { Cookie, Authorization },
        });
        expect(response.status).toBe(401);
        expect(response.json).toMatchObject({ reason });
        expect(response.headers.getSetCookie()).toEqual([]);
      }
    });

    it('does not issue a session for a portal token', async () => {
      const portal = await HttpClient.asGuest(site.gateway);
      const { status, headers } = await portal.request('/v1/me/');
      expect(status).toBe(200);
      expect(headers.getSetCookie()).toEqual([]);
    });

    it('rejects a session when the account is locked', async () => {
      const lock = (value: string) =>
        site.realm
          .modify(`dn: uid=dave,cn=users,cn=accounts,${site.realm.baseDn}
changetype: modify
replace: nsAccountLock
nsAccountLock: ${value}
`);
      const session = withCookie(await sessionOf('dave'));
      expect((await site.client.request('/v1/me/', session)).status).toBe(200);
      await lock('TRUE');
      await eventually(async () => {
        const response = await site.client.request('/v1/me/', session);
        expect(response.status).toBe(401);
        expect(response.json).toMatchObject({ reason: 'account_locked' });
      });
      await lock('FALSE');
    });

    it('does not log the cookie', async () => {
      const alice = await sessionOf('alice');
      const [, token] = alice.split('=');
      await site.client.request(
        '/v1/groups/design/members.csv',
        withCookie(alice),
      );
      await site.client.request('/v1/me/', withCookie(`${alice}A`));
      const secrets = token.split('.').filter(part => part !== '');
      expect(secrets).toHaveLength(4);
      const log = site.gateway.log();
      expect(log).toContain(
        'GET /api/directory/v1/groups/design/members.csv 200',
      );
      for (const secret of secrets) {
        expect(log).not.toContain(secret);
      }
      expect(log).not.toContain(SESSION_COOKIE);
    });

    it('accepts sessions of any configured key and issues them with the first', async () => {
      const { realm } = site;
      const gateway = await startGateway({
        realm,
        externalUrl: site.gateway.baseUrl,
        directory: {
          sessions: {
            keys: [{ secret: nextKey }, { secretFile: keyFileOf(realm) }],
          },
        },
      });
      try {
        const client = new GatewayClient({ gateway, realm });
        const first = withCookie(await sessionOf('alice'));
        const accepted = await client.request('/v1/me/', first);
        expect(accepted.json).toMatchObject({ result: { username: 'alice' } });
        const second = withCookie(
          sessionIn(await client.request('/v1/me/', { as: 'alice' })),
        );
        expect((await client.request('/v1/me/', second)).status).toBe(200);
        expect(
          credentialsOutcome(await site.client.request('/v1/me/', second)),
        ).toEqual(NO_CREDENTIALS);
      } finally {
        await gateway.stop();
      }
    });
  });
}
