/* eslint-disable jest/no-export -- a suite of fasjson.integration.test.ts */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { makeCsr } from '../../../__testUtils__/certificates/makeCsr';
import {
  type ClientResponse,
  form,
  type RequestOptions,
} from '../../../__testUtils__/gateway/GatewayClient';
import type { Site } from '../../../__testUtils__/gateway/withGateway';

const run = promisify(execFile);

const MOUNT = '/api/directory/fasjson';

/** Body of a list or a record. */
interface Body {
  readonly result: Record<string, unknown> & Record<string, unknown>[];
  readonly page?: Record<string, unknown>;
}

const LOCATIONS = 'the JSON body or the post body or the query string';
const MISSING = {
  user: `User name. Missing required parameter in ${LOCATIONS}`,
  csr: `Certificate Signing Request. Missing required parameter in ${LOCATIONS}`,
};

/** Suite of the operations and the parameters of the dialect. */
export function describeDialect(site: Site): void {
  describe('operations', () => {
    /** The DN that the directory returns for "Who am I?" (RFC 4532). */
    async function whoAmI(principal: string): Promise<string> {
      const { realm } = site;
      const { stdout } = await run(
        'ldapwhoami',
        [...['-N', '-Q', '-Y', 'GSSAPI'], ...['-H', realm.ldapUrl]],
        {
          env: {
            ...process.env,
            ...realm.env,
            KRB5CCNAME: await realm.ticket(principal),
          },
        },
      );
      return stdout.trim().replace(/^dn: ?/, '');
    }

    const bodyOf = (response: ClientResponse) => response.json as Body;
    const request = (path: string, options: RequestOptions = {}) =>
      site.client.request(`/fasjson/v1${path}`, { as: 'alice', ...options });

    describe('fasjson dialect', () => {
      it('returns whole lists without pagination', async () => {
        for (const path of ['/users/', '/users/?page_size=0', '/groups/']) {
          const body = bodyOf(await request(path));
          expect(Object.keys(body)).toEqual(['result']);
          expect(body.result.length).toBeGreaterThan(10);
        }
        const none = await request('/groups/bots/members/');
        expect(none.text).toBe('{"result":[]}');
      });

      it('keeps every parameter in next_page', async () => {
        const { page } = bodyOf(
          await request(
            '/search/users/?page_size=1&group=packager&group=contributors&email=*',
          ),
        );
        expect(page!.next_page).toBe(
          `${site.gateway.baseUrl}${MOUNT}/v1/search/users/?group=packager&group=contributors&email=*&page_size=1&page_number=2`,
        );
        const fromBody = await request('/users/?page_number=2', {
          body: '{"page_size":3}',
          headers: { 'Content-Type': 'application/json' },
        });
        expect(bodyOf(fromBody).page!.next_page).toBe(
          `${site.gateway.baseUrl}${MOUNT}/v1/users/?page_size=3&page_number=3`,
        );
      });

      it('reads search parameters from a JSON body', async () => {
        const query = await request(
          '/search/users/?group=packager&group=contributors&email=*',
        );
        const body = await request('/search/users/?email=*', {
          body: '{"group":["packager","contributors"],"username":null}',
          headers: { 'Content-Type': 'application/json; charset=utf-8' },
        });
        expect(bodyOf(body)).toEqual(bodyOf(query));
        expect(bodyOf(body).result.length).toBeGreaterThan(0);
        const broken = await request('/search/users/?username=ali', {
          body: '{"username":',
          headers: { 'Content-Type': 'application/json' },
        });
        expect(broken.status).toBe(200);
      });

      it.each([
        ['username=*', 'Search term must be at least 3 characters long.'],
        ['creation__before=soon', 'Input payload validation failed'],
      ])('rejects the search %s', async (query, message) => {
        const response = await request(`/search/users/?${query}`);
        expect([response.status, response.json]).toEqual([
          400,
          expect.objectContaining({ message }),
        ]);
      });

      it('does not return locked accounts', async () => {
        const names = bodyOf(await request('/users/')).result.map(
          ({ username }) => username,
        );
        expect(names).not.toContain('carol');
        const found = await request('/search/users/?username__exact=carol');
        expect(bodyOf(found).result).toEqual([]);
        for (const [path, message] of [
          ['/users/carol/', 'User not found'],
          ['/users/carol/groups/', 'User does not exist'],
          ['/users/carol/agreements/', 'User does not exist'],
        ]) {
          const { status, json } = await request(path);
          expect([status, json]).toMatchObject([
            404,
            { message, name: 'carol' },
          ]);
        }
      });

      it('prefers the query to the form and reads an empty profile as the default', async () => {
        const csr = makeCsr({ subject: '/CN=alice' });
        const response = await request(
          '/certs/?user=alice',
          form({ user: 'bob', csr, profile: '', dry_run: 'true' }),
        );
        const result = { would_sign: true, rules: expect.any(Array) };
        expect([response.status, response.json]).toEqual([200, { result }]);
      });

      it('returns 404 for an unknown certificate and a malformed mask', async () => {
        const response = await request('/certs/1/', {
          headers: { 'X-Fields': '{username' },
        });
        expect([response.status, response.json]).toMatchObject([
          404,
          { message: 'Certificate not found', serial_number: 1 },
        ]);
      });

      it.each(['members', 'sponsors'])(
        'returns null for locked in %s under a mask',
        async list => {
          const read = async (mask: string) =>
            bodyOf(
              await request(`/groups/packager/${list}/`, {
                headers: { 'X-Fields': mask },
              }),
            ).result;
          const masked = await read('username,locked');
          expect(masked.length).toBeGreaterThan(0);
          for (const item of masked) {
            expect(item).toEqual({
              username: expect.any(String),
              locked: null,
            });
          }
          const keys = Object.keys(
            bodyOf(await request('/users/alice/')).result,
          );
          for (const item of await read('*')) {
            expect(Object.keys(item)).toEqual(keys);
            expect(item.locked).toBeNull();
          }
        },
      );

      it('rejects signing for other users with the error code of FreeIPA', async () => {
        const csr = makeCsr({ subject: '/CN=bob' });
        const response = await request('/certs/', {
          method: 'POST',
          body: String(new URLSearchParams({ user: 'bob', csr })),
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        });
        expect([response.status, response.json]).toMatchObject([
          400,
          { code: 2100, source: 'RPC' },
        ]);
      });

      it.each([
        ['/fasjson/v1/certs/', 'POST', MISSING],
        ['/v1/certs/', 'POST', MISSING],
        [
          '/fasjson/v1/users/?page_size=abc&page_number=xyz',
          'GET',
          {
            page_size:
              "Page size. invalid literal for int() with base 10: 'abc'",
            page_number:
              "Page number. invalid literal for int() with base 10: 'xyz'",
          },
        ],
        [
          '/v1/groups/packager/members/?page_size=0&q=x&membership=y',
          'GET',
          {
            page_size: 'Page size. Must be a whole number from 1 to 1000.',
            membership: 'Membership. Must be direct or indirect.',
          },
        ],
      ])(
        'reports all invalid parameters of %s',
        async (path, method, errors) => {
          const { status, json } = await site.client.request(path, {
            as: 'alice',
            method,
          });
          expect([status, json]).toEqual([
            400,
            {
              message: 'Input payload validation failed',
              errors,
              request_id: expect.any(String),
            },
          ]);
        },
      );

      it('reports JSON parameters that are not strings together with missing ones', async () => {
        const { status, json } = await site.client.request('/v1/certs/', {
          as: 'alice',
          method: 'POST',
          body: '{"user":["alice"],"unknown":{}}',
          headers: { 'Content-Type': 'application/json' },
        });
        expect([status, json]).toMatchObject([
          400,
          { errors: { user: 'Must be a string.', csr: MISSING.csr } },
        ]);
      });

      it.each([
        ['CamelCase', 'camelcase', null],
        ['admin', 'admin', null],
        ['nofas', 'nofas', null],
        ['bot/builder.example.test', null, 'bot/builder.example.test'],
        ['HTTP/localhost', null, 'http/localhost'],
        ['host/build1.example.test', null, null],
      ])(
        'returns the names and the "Who am I?" DN of %s in /me/',
        async (principal, username, service) => {
          const uri =
            username && `${site.gateway.baseUrl}${MOUNT}/v1/users/${username}/`;
          const { status, json } = await request('/me/', { as: principal });
          expect([status, json]).toEqual([
            200,
            {
              result: { dn: await whoAmI(principal), username, service, uri },
            },
          ]);
        },
      );

      it('returns a certificate on one line and adds it to the user', async () => {
        const csr = makeCsr({ subject: '/CN=alice' });
        const query = new URLSearchParams({ user: 'alice', csr });
        const { result } = bodyOf(
          await request(`/certs/?${query}`, { method: 'POST' }),
        );
        expect(result.certificate).toMatch(/^MII[A-Za-z0-9+/]+=*$/);
        const user = bodyOf(await request('/users/alice/')).result;
        expect(user.certificates).toContain(result.certificate);
      });

      it('has website and rssurl in addition to websites and rssurls', async () => {
        const { result } = bodyOf(
          await request('/users/alice/', {
            headers: { 'X-Fields': 'rssurl,website,websites,rssurls' },
          }),
        );
        expect(Object.keys(result)).toEqual([
          ...['rssurl', 'website', 'websites', 'rssurls'],
        ]);
        expect(result.rssurl).toBe((result.rssurls as string[])[0]);
        const hidden = bodyOf(await request('/users/bob/')).result;
        expect([hidden.website, hidden.rssurl]).toEqual([null, null]);
      });

      it('ignores the extensions of the contract', async () => {
        const narrowed = await request(
          '/groups/packager/members/?q=x&membership=y',
        );
        expect(narrowed.status).toBe(200);
        expect((await request('/search/groups/?q=pack')).status).toBe(404);
        expect((await request('/me/colleagues/')).status).toBe(404);
      });
    });
  });
}
