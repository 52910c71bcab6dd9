/* eslint-disable jest/no-export -- a suite of fasjson.integration.test.ts */
import type { OpenAPIV2 } from 'openapi-types';
import { request } from 'node:http';
import { makeCsr } from '../../../__testUtils__/certificates/makeCsr';
import type { Site } from '../../../__testUtils__/gateway/withGateway';
import { BravadoClient } from './BravadoClient';
import { swaggerDocument } from '../swaggerDocument';

const MOUNT = '/api/directory/fasjson';

/** Values in a result that are not plain objects, lists or scalars. */
function notJson(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const isPlain =
    Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.values(value).flatMap(notJson) : [value];
}

/** Suite of the public documents, the Swagger document and duplicate slashes. */
export function describeDocuments(site: Site): void {
  describe('documents', () => {
    describe('public documents of FASJSON', () => {
      it('include the version list of FASJSON', async () => {
        const { json, headers } = await site.client.request('/fasjson/');
        const root = `${site.gateway.baseUrl}${MOUNT}`;
        expect(headers.get('content-type')).toBe('application/json');
        expect(json).toEqual({
          message: 'Welcome to FASJSON',
          apis: [
            {
              version: 1,
              uri: `${root}/v1/`,
              specs: `${root}/specs/v1.json`,
              docs: `${root}/docs/v1/`,
            },
          ],
        });
      });

      it('include an explorer without inline scripts and styles', async () => {
        const page = await site.client.request('/fasjson/docs/v1/');
        expect(page.headers.get('content-type')).toMatch('text/html');
        expect(page.text).not.toMatch(/<script>|<style|style=| on\w+=/);
        const assets = [...page.text.matchAll(/(?:src|href)="([\w-]+\.\w+)"/g)];
        expect(assets.length).toBeGreaterThan(3);
        for (const [, name] of assets) {
          const { status } = await site.client.request(
            `/fasjson/docs/v1/${name}`,
            {
              method: 'HEAD',
            },
          );
          expect([name, status]).toEqual([name, 200]);
        }
        const bare = await site.client.request('/fasjson/docs/v1');
        expect(bare.text).toContain('<base href="v1/"');
      });

      it.each(['/', '/fasjson/specs/v1.json'])(
        'allow only GET, HEAD and OPTIONS for %s',
        async path => {
          for (const [method, status] of [
            ['POST', 405],
            ['DELETE', 405],
            ['OPTIONS', 204],
            ['HEAD', 200],
          ] as const) {
            const response = await fetch(
              `${site.gateway.baseUrl}/api/directory${path}`,
              { method },
            );
            expect([method, response.status]).toEqual([method, status]);
            expect(response.headers.get('allow')).toBe(
              method === 'HEAD' ? null : 'GET, HEAD, OPTIONS',
            );
          }
        },
      );

      it('do not include other paths', async () => {
        for (const path of [
          '/fasjson/v1/',
          '/fasjson/healthz/',
          '/fasjson/x',
        ]) {
          expect((await site.client.request(path)).status).toBe(401);
        }
      });
    });

    describe('Swagger document', () => {
      type Result = Record<string, unknown>;

      let document: OpenAPIV2.Document;
      let client: BravadoClient;

      beforeAll(async () => {
        const { json } = await site.client.request('/fasjson/specs/v1.json');
        document = json as OpenAPIV2.Document;
        client = new BravadoClient({ document, site, principal: 'alice' });
      });

      /** The records of a list, or the one record. */
      const recordsOf = ({ result }: Result) => [result].flat() as Result[];

      it('is served with the path of its mount', () => {
        expect(document).toEqual(swaggerDocument(`${MOUNT}/v1`));
      });

      it('builds a client that returns plain JSON for every operation', async () => {
        const alice = { username: 'alice' };
        const packager = { groupname: 'packager' };
        const signed = await client.call('sign_csr', {
          user: 'alice',
          csr: makeCsr({ subject: '/CN=alice' }),
        });
        const [certificate] = recordsOf(signed);
        const results: Record<string, Result> = {
          sign_csr: signed,
          get_cert: await client.call('get_cert', {
            serial_number: BigInt(/(\d+)\/$/.exec(String(certificate.uri))![1]),
          }),
          whoami: await client.call('whoami'),
          list_users: await client.call('list_users'),
          get_user: await client.call('get_user', alice),
          list_user_groups: await client.call('list_user_groups', alice),
          list_user_agreements: await client.call(
            'list_user_agreements',
            alice,
          ),
          list_groups: await client.call('list_groups'),
          get_group: await client.call('get_group', packager),
          list_group_members: await client.call('list_group_members', packager),
          list_group_sponsors: await client.call(
            'list_group_sponsors',
            packager,
          ),
          check_membership: await client.call('check_membership', {
            ...packager,
            ...alice,
          }),
          search: await client.call('search', alice),
        };
        expect(Object.keys(results).sort()).toEqual(
          client.operationIds().sort(),
        );
        for (const [operationId, result] of Object.entries(results)) {
          expect([operationId, notJson(result)]).toEqual([operationId, []]);
        }
        expect(results.check_membership).toEqual({ result: true });
        expect(recordsOf(results.whoami)).toMatchObject([alice]);
        expect(recordsOf(results.list_users).length).toBeGreaterThan(190);
        expect(recordsOf(results.list_user_groups)).toContainEqual(
          expect.objectContaining(packager),
        );
        expect(recordsOf(results.list_user_agreements)).toContainEqual({
          name: expect.any(String),
        });
        expect(recordsOf(results.list_groups)).toContainEqual(
          expect.objectContaining(packager),
        );
        expect(recordsOf(results.get_group)).toMatchObject([packager]);
        expect(recordsOf(results.list_group_members)).toContainEqual(
          expect.objectContaining(alice),
        );
        expect(recordsOf(results.list_group_sponsors).length).toBeGreaterThan(
          0,
        );
        expect(recordsOf(results.search)).toContainEqual(
          expect.objectContaining(alice),
        );
        expect(certificate.revoked).toBeNull();
        expect(recordsOf(results.get_cert)).toMatchObject([
          { revoked: false, certificate: certificate.certificate },
        ]);
        const [user] = recordsOf(results.get_user);
        expect(user.creation).toEqual(expect.any(String));
        expect(Object.keys(user).sort()).toEqual(
          Object.keys(document.definitions!.User.properties!).sort(),
        );
      });

      it.each([
        ['get_user', { username: 'alice' }],
        ['list_group_members', { groupname: 'packager' }],
      ])(
        'builds a client that returns only the masked keys of %s',
        async (operationId, parameters) => {
          const masked = await client.call(operationId, {
            ...parameters,
            'X-Fields': ['username', 'creation'],
          });
          const records = recordsOf(masked);
          expect(records).toContainEqual({
            username: 'alice',
            creation: expect.any(String),
          });
          for (const record of records) {
            expect(Object.keys(record)).toEqual(['username', 'creation']);
          }
        },
      );

      it('builds a client that searches by date and by several groups', async () => {
        const found = (before: Date) =>
          client.call('search', {
            username__exact: 'alice',
            creation__before: before,
            group: ['packager', 'contributors'],
            'X-Fields': ['username'],
          });
        // The account of alice was created at 2007-01-02T03:04:05.
        expect((await found(new Date('2007-01-02T03:04:05Z'))).result).toEqual([
          { username: 'alice' },
        ]);
        expect((await found(new Date('2007-01-02T03:04:04Z'))).result).toEqual(
          [],
        );
      });

      it('builds a client that reads pages until there is no next page', async () => {
        const whole = await client.call('list_users', {
          'X-Fields': 'username',
        });
        const users: Result[] = [];
        let next: URL | undefined = new URL('page:?page_size=60&page_number=1');
        while (next) {
          const body: Result = await client.call('list_users', {
            page_size: Number(next.searchParams.get('page_size')),
            page_number: Number(next.searchParams.get('page_number')),
            'X-Fields': 'username',
          });
          users.push(...recordsOf(body));
          const page = body.page as Result;
          next =
            'next_page' in page ? new URL(String(page.next_page)) : undefined;
        }
        expect(users).toEqual(whole.result);
        expect(users.length).toBeGreaterThan(120);
      });

      it('names the content type of every response', async () => {
        const responses = [
          await site.client.request('/fasjson/'),
          await site.client.request('/fasjson/specs/v1.json'),
          await site.client.request('/fasjson/v1/me/'),
          await site.client.request('/fasjson/v1/nowhere/', { as: 'alice' }),
          await site.client.request('/fasjson/v1/users/nobody/', {
            as: 'alice',
          }),
          await site.client.request('/fasjson/v1/users/', { as: 'alice' }),
          await site.client.request('/fasjson/v1/users/?page_size=1', {
            as: 'alice',
          }),
          await site.client.request('/fasjson/v1/me/', {
            as: 'alice',
            method: 'HEAD',
          }),
        ];
        expect(responses.map(({ status }) => status)).toEqual([
          200, 200, 401, 404, 404, 200, 200, 200,
        ]);
        for (const { headers } of responses) {
          expect([headers.get('content-type')]).toEqual(document.produces);
        }
        const contract = await site.client.request('/v1/me/', { as: 'alice' });
        expect(contract.headers.get('content-type')).toBe(
          'application/json; charset=utf-8',
        );
      });
    });

    const statuses = async (path: string) => [
      (await site.client.request(path)).status,
      (await site.client.request(path, { as: 'alice' })).status,
    ];

    describe('duplicate slashes in the fasjson dialect', () => {
      it.each([
        '/fasjson//v1/me/',
        '/fasjson/v1/users//',
        '/fasjson//v1//groups/packager/is-member//alice',
      ])('are merged in the operation %s', async path => {
        const merged = await site.client.request(path.replace(/\/+/g, '/'), {
          as: 'alice',
        });
        const { status, text } = await site.client.request(path, {
          as: 'alice',
        });
        expect(await statuses(path)).toEqual([401, 200]);
        expect([status, text]).toEqual([200, merged.text]);
      });

      it('are merged in the path of a public document', async () => {
        expect(await statuses('/fasjson//specs///v1.json//')).toEqual([
          200, 200,
        ]);
      });

      it.each([
        '/fasjson//v1//nope/',
        '/fasjson//v1/groups/packager/is-member/alice//',
        '/fasjson/v1/%2Fme/',
        '/fasjson/v1/users/%2Falice/',
        '/fasjson/specs%2F%2Fv1.json',
        '//fasjson/v1/me/',
      ])('do not make %s an API path', async path => {
        expect(await statuses(path)).toEqual([401, 404]);
      });

      it('do not change the URIs in a response', async () => {
        const root = `${site.gateway.baseUrl}/api/directory/fasjson/v1`;
        const user = await site.client.request('/fasjson//v1//users//alice/', {
          as: 'alice',
          headers: { 'X-Fields': 'uri' },
        });
        expect(user.json).toEqual({ result: { uri: `${root}/users/alice/` } });
        const search = await site.client.request(
          '/fasjson//v1/search//users/?page_size=1&group=packager&website=https://a//b&email=*&page_number=1',
          { as: 'alice' },
        );
        expect(search.status).toBe(200);
        const list = await site.client.request(
          '/fasjson//v1//users/?page_size=1&x=https://a//b',
          { as: 'alice' },
        );
        expect(list.json).toMatchObject({
          page: {
            next_page: `${root}/users/?x=https%3A%2F%2Fa%2F%2Fb&page_size=1&page_number=2`,
          },
        });
      });

      it('are merged in an absolute request target, whose host is ignored', async () => {
        const root = `${site.gateway.baseUrl}/api/directory`;
        const targets = [
          `${root}/fasjson//specs//v1.json`,
          `http://other.test/api/directory/fasjson//specs/v1.json`,
          `http://other.test/api/directory/fasjson//v1/me/`,
          `${root}//specs/v1.json`,
          `${root}//v1/me/`,
        ];
        expect(await Promise.all(targets.map(statusOfTarget))).toEqual([
          ...[200, 200, 401, 401, 401],
        ]);
      });
    });

    describe('duplicate slashes in the contract dialect', () => {
      it.each(['//v1/me/', '/v1//me/', '/v1/users//', '//specs/v1.json'])(
        'are not merged: %s',
        async path => {
          expect(await statuses(path)).toEqual([401, 404]);
        },
      );

      it.each(['/specs//v1.json', '/%2Fv1/me/', '/fasjson%2F%2Fv1/me/'])(
        'are not merged outside of the API: %s',
        async path => {
          expect(await statuses(path)).toEqual([401, 401]);
        },
      );
    });

    /** The status of a GET without credentials whose request target is `path`. */
    function statusOfTarget(path: string): Promise<number | undefined> {
      return new Promise((resolve, reject) => {
        const { hostname, port } = new URL(site.gateway.baseUrl);
        request({ hostname, port, path }, response => {
          response.resume();
          resolve(response.statusCode);
        })
          .once('error', reject)
          .end();
      });
    }
  });
}
