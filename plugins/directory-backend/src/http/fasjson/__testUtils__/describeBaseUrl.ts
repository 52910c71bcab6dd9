/* eslint-disable jest/no-export -- a suite of api.integration.test.ts */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  startTlsFront,
  TestAuthority,
} from '@directory-gateway/ldap/testUtils';
import type { Site } from '../../../__testUtils__/gateway/withGateway';

const run = promisify(execFile);

/** URL of the dialect, without the last slash. */
export const BASE_URL = 'https://localhost';

/** Suite of a gateway with this {@link BASE_URL} and the schema `freeipa`. */
export function describeBaseUrl(site: Site): void {
  describe('fasjson dialect with a base URL', () => {
    const get = (path: string) =>
      site.client.request(`/fasjson${path}`, { as: 'alice' });

    it('returns URIs below the configured base URL', async () => {
      expect((await get('/')).json).toMatchObject({
        apis: [{ uri: `${BASE_URL}/v1/`, docs: `${BASE_URL}/docs/v1/` }],
      });
      expect((await get('/specs/v1.json')).json).toMatchObject({
        basePath: '/v1',
      });
      expect((await get('/v1/users/alice/')).json).toMatchObject({
        result: { uri: `${BASE_URL}/v1/users/alice/` },
      });
      expect((await get('/v1/users/?page_size=1')).json).toMatchObject({
        page: { next_page: `${BASE_URL}/v1/users/?page_size=1&page_number=2` },
      });
      const contract = await site.client.request('/v1/users/alice/', {
        as: 'alice',
      });
      expect(contract.json).toMatchObject({
        result: {
          uri: `${site.gateway.baseUrl}/api/directory/v1/users/alice/`,
        },
      });
    });

    it('lists groups with spaces in their names and rejects these in paths', async () => {
      const { json } = await get('/v1/users/admin/groups/');
      expect(json).toMatchObject({
        result: expect.arrayContaining([
          {
            groupname: 'trust admins',
            uri: `${BASE_URL}/v1/groups/trust%20admins/`,
          },
        ]),
      });
      const group = await get('/v1/groups/trust%20admins/');
      expect(group.status).toBe(404);
      const search = await get('/v1/search/users/?group=trust%20admins');
      expect(search.json).toMatchObject({ result: [{ username: 'admin' }] });
    });

    it('sets the session cookie for the path of the base URL', async () => {
      const { realm } = site;
      const authority = await TestAuthority.create();
      const front = await startTlsFront(
        await authority.issue({ host: 'localhost', days: 1 }),
        site.gateway.baseUrl,
      );
      const jar = join(realm.dir, 'fasjson-cookies');
      const me = async (ticket: string, ...options: string[]) => {
        const { stdout } = await run(
          'curl',
          [
            ...['--silent', '--include', '--cacert', authority.caFile],
            ...['--cookie', jar, '--cookie-jar', jar, ...options],
            `${front.url.replace(
              'ldaps:',
              'https:',
            )}/api/directory/fasjson/v1/me/`,
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
          await me(await realm.ticket('alice'), '--negotiate', '--user', ':'),
        ).toMatch(
          /^Set-Cookie: __Secure-directory-session=[\w.-]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict\r$/m,
        );
        expect(await me('MEMORY:none')).toMatch(/^HTTP\/1.1 200 /);
      } finally {
        front.stop();
        await authority.remove();
      }
    });
  });
}
