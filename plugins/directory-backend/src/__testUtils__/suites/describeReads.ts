/* eslint-disable jest/no-export -- a suite of api.integration.test.ts */
import { type ClientResponse, resultOf } from '../gateway/GatewayClient';
import type { Site } from '../gateway/withGateway';

const people = 'cn=users,cn=accounts,dc=example,dc=test';

const names = (response: ClientResponse) =>
  (response.json as { result: { username: string }[] }).result.map(
    ({ username }) => username,
  );

/** Suite of the contract's reads, by the tickets of users, hosts and services. */
export function describeReads(site: Site): void {
  describe('reads', () => {
    describe('GET /me/', () => {
      const uri = (name: string) =>
        `${site.gateway.baseUrl}/api/directory/v1/users/${name}/`;

      it('returns the user of the ticket', async () => {
        const response = await site.client.request('/v1/me/', { as: 'alice' });
        expect(response.status).toBe(200);
        expect(response.json).toEqual({
          result: {
            dn: `uid=alice,${people}`,
            username: 'alice',
            service: null,
            uri: uri('alice'),
          },
        });
      });

      it('accepts an alias of the principal', async () => {
        const response = await site.client.request('/v1/me/', {
          as: 'alice.liddell',
        });
        expect(resultOf(response)).toMatchObject({ username: 'alice' });
      });

      it('returns a user that the API does not serve', async () => {
        const response = await site.client.request('/v1/me/', { as: 'admin' });
        expect(resultOf(response)).toMatchObject({
          username: 'admin',
          uri: null,
        });
      });

      it.each(['bot/builder.example.test', 'host/build1.example.test'])(
        'returns %s',
        async service => {
          const response = await site.client.request('/v1/me/', {
            as: service,
          });
          expect(resultOf(response)).toMatchObject({
            service,
            username: null,
            uri: null,
            dn: expect.stringContaining(',cn=accounts,dc=example,dc=test'),
          });
        },
      );

      it('applies a mask in its order', async () => {
        const response = await site.client.request('/v1/me/', {
          as: 'alice',
          headers: { 'X-Fields': '{uri,dn,nope}' },
        });
        expect(Object.keys(resultOf(response))).toEqual(['uri', 'dn']);
      });

      it('returns URIs of the configuration, not of the request', async () => {
        const response = await site.client.request('/v1/me/', {
          as: 'alice',
          headers: {
            'X-Forwarded-Host': 'evil.example',
            'X-Forwarded-Proto': 'https',
          },
        });
        expect(resultOf(response).uri).toBe(uri('alice'));
      });
    });

    describe('GET /users/{username}/', () => {
      it('returns whole records with null fields', async () => {
        const response = await site.client.request('/v1/users/alice/', {
          as: 'bob',
        });
        expect(resultOf(response)).toMatchObject({
          username: 'alice',
          emails: expect.arrayContaining(['alice@example.test']),
          is_private: false,
          locked: false,
          creation: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
        });
      });

      it('matches names like LDAP and returns the spelling of the directory', async () => {
        const response = await site.client.request('/v1/users/ALICE/', {
          as: 'bob',
        });
        expect(resultOf(response).username).toBe('alice');
      });

      it.each([
        '/v1/users/alice',
        '/v1/users/%61lice/',
        '/v1/users/alice/?x=1',
      ])('does not redirect %s', async path => {
        const response = await site.client.request(path, { as: 'bob' });
        expect(resultOf(response).username).toBe('alice');
      });

      it('returns locked accounts', async () => {
        const response = await site.client.request('/v1/users/carol/', {
          as: 'alice',
        });
        expect(resultOf(response)).toMatchObject({
          username: 'carol',
          locked: true,
        });
      });

      it.each([
        ['nobody', 'nobody'],
        ['nofas', 'nofas'],
        ['a%2Fb', 'a/b'],
        ['alice%00', 'alice\0'],
        ['alice)(uid=*', 'alice)(uid=*'],
        ['%EF%BD%81lice', '\uff41lice'],
        ['%ff', '%ff'],
      ])('returns 404 for the user "%s"', async (segment, name) => {
        const response = await site.client.request(`/v1/users/${segment}/`, {
          as: 'alice',
        });
        expect(response.status).toBe(404);
        expect(response.json).toEqual({
          message: 'User not found',
          name,
          request_id: expect.any(String),
        });
      });

      it('returns the headers of GET to HEAD', async () => {
        const response = await site.client.request('/v1/users/alice/', {
          as: 'bob',
          method: 'HEAD',
        });
        expect(response).toMatchObject({ status: 200, text: '' });
      });
    });

    describe('a private profile', () => {
      const hidden = [
        ...['human_name', 'surname', 'givenname', 'ircnicks', 'locale'],
        ...['timezone', 'gpgkeyids', 'sshpubkeys', 'github_username'],
        ...['gitlab_username', 'pronouns', 'websites', 'rssurls'],
      ];

      it('is complete for its owner', async () => {
        const record = resultOf(
          await site.client.request('/v1/users/bob/', { as: 'bob' }),
        );
        for (const field of hidden) {
          expect([field, record[field]]).not.toEqual([field, null]);
        }
      });

      it.each(['alice', 'admin', 'bot/builder.example.test'])(
        'hides its fields from %s with every mask and in lists',
        async viewer => {
          const whole = await site.client.request('/v1/users/bob/', {
            as: viewer,
          });
          const list = await site.client.request('/v1/users/?page_size=1000', {
            as: viewer,
            headers: { 'X-Fields': ['username', ...hidden].join(',') },
          });
          const listed = (
            list.json as { result: Record<string, unknown>[] }
          ).result.find(({ username }) => username === 'bob')!;
          expect(resultOf(whole)).toMatchObject({
            is_private: true,
            emails: expect.any(Array),
          });
          for (const field of hidden) {
            const masked = await site.client.request('/v1/users/bob/', {
              as: viewer,
              headers: { 'X-Fields': field },
            });
            expect(resultOf(masked)).toEqual({ [field]: null });
            expect([resultOf(whole)[field], listed[field]]).toEqual([
              null,
              null,
            ]);
          }
        },
      );
    });

    describe('GET /users/', () => {
      it('lists all served users in pages, sorted by name', async () => {
        const pages: ClientResponse[] = [];
        const total = () =>
          (pages[0].json as { total_results: number }).total_results;
        do {
          pages.push(
            await site.client.request(
              `/v1/users/?page_size=37&page_number=${pages.length + 1}`,
              { as: 'alice', headers: { 'X-Fields': 'username' } },
            ),
          );
        } while (pages.length * 37 < total());
        const all = pages.flatMap(names);
        const lower = all.map(name => name.toLowerCase());
        expect(all).toHaveLength(total());
        expect(new Set(all).size).toBe(all.length);
        expect(lower).toEqual([...lower].sort());
        expect(all).toEqual(expect.arrayContaining(['alice', 'bob', 'carol']));
        expect(all).not.toEqual(expect.arrayContaining(['nofas']));
        expect(all).not.toEqual(expect.arrayContaining(['admin']));
      });

      it('returns 40 users by default, and the whole envelope', async () => {
        const response = await site.client.request('/v1/users/', {
          as: 'alice',
        });
        expect(response.json).toMatchObject({ page: 1, page_size: 40 });
        expect(names(response)).toHaveLength(40);
      });

      it('returns an empty page after the last one, with the total', async () => {
        const response = await site.client.request(
          '/v1/users/?page_number=99',
          {
            as: 'alice',
          },
        );
        expect(response.json).toMatchObject({
          result: [],
          page: 99,
          page_size: 40,
        });
        expect(
          (response.json as { total_results: number }).total_results,
        ).toBeGreaterThan(150);
      });

      it.each(['page_size=1001', 'page_number=x'])(
        'rejects %s',
        async query => {
          const response = await site.client.request(`/v1/users/?${query}`, {
            as: 'alice',
          });
          expect(response.status).toBe(400);
          expect(response.json).toMatchObject({
            message: 'Input payload validation failed',
          });
        },
      );

      it('returns empty objects for a mask of unknown names', async () => {
        const response = await site.client.request('/v1/users/?page_size=2', {
          as: 'alice',
          headers: { 'X-Fields': 'nope' },
        });
        expect(response.json).toMatchObject({ result: [{}, {}] });
      });
    });

    describe('GET /groups/{groupname}/is-member/{username}', () => {
      it.each([
        [true, 'a direct member', 'minimal', 'packager'],
        [true, 'a member of a nested group', 'dave', 'packager'],
        [true, 'a member of a group that is nested twice', 'erin', 'packager'],
        [false, 'a member of the parent group', 'minimal', 'provenpackager'],
        [false, 'a user without the membership', 'erin', 'design'],
      ])('returns %s for %s: %s in %s', async (isMember, kind, user, group) => {
        const path = `/v1/groups/${group}`;
        const check = await site.client.request(`${path}/is-member/${user}`, {
          as: 'alice',
        });
        expect(check.json).toEqual({ result: isMember });
        const direct = await site.client.request(
          `${path}/members/?membership=direct&page_size=1000`,
          { as: 'alice' },
        );
        expect(names(direct).includes(user)).toBe(kind === 'a direct member');
      });
    });

    describe('other paths and methods', () => {
      it.each(['/v1/', '/v1/Users/', '/v2/me/'])(
        'return 404 for %s',
        async path => {
          const response = await site.client.request(path, { as: 'alice' });
          expect(response.status).toBe(404);
          expect(response.json).toEqual({
            message: 'The requested URL was not found on the server.',
            request_id: expect.any(String),
          });
        },
      );

      it.each(['POST', 'DELETE'])('return 405 for %s', async method => {
        const response = await site.client.request('/v1/users/alice/', {
          as: 'bob',
          method,
        });
        expect(response.status).toBe(405);
        expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      });
    });
  });
}
