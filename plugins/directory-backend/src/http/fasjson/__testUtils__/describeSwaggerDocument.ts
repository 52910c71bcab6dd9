/* eslint-disable jest/no-export -- part of the suite of a file that has a site */
import type { OpenAPIV2 } from 'openapi-types';
import { swaggerDocument } from '../swaggerDocument';
import { BravadoClient } from './BravadoClient';
import { makeCsr } from '../../../__testUtils__/certificates/makeCsr';
import type { Site } from '../../../__testUtils__/gateway/withGateway';

const MOUNT = '/api/directory/fasjson';

type Result = Record<string, unknown>;

/** Tests of FASJSON's API document, and of a client that is built from it. */
export function describeSwaggerDocument(site: Site): void {
  describe('the Swagger document', () => {
    let document: OpenAPIV2.Document;
    let client: BravadoClient;

    beforeAll(async () => {
      const { json } = await site.client.ask('/fasjson/specs/v1.json');
      document = json as OpenAPIV2.Document;
      client = new BravadoClient({ document, site, principal: 'alice' });
    });

    /** The records of a list, or the one record. */
    const recordsOf = ({ result }: Result) => [result].flat() as Result[];

    it('is served with the path of its mount', () => {
      const expected = swaggerDocument({ basePath: `${MOUNT}/v1` });
      expect(document).toEqual(JSON.parse(JSON.stringify(expected)));
    });

    it('makes a client that reads the result of every operation as plain JSON', async () => {
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
        list_user_agreements: await client.call('list_user_agreements', alice),
        list_groups: await client.call('list_groups'),
        get_group: await client.call('get_group', packager),
        list_group_members: await client.call('list_group_members', packager),
        list_group_sponsors: await client.call('list_group_sponsors', packager),
        check_membership: await client.call('check_membership', {
          ...packager,
          ...alice,
        }),
        search: await client.call('search', alice),
      };
      expect(Object.keys(results).sort()).toEqual(client.operationIds().sort());
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
      expect(recordsOf(results.list_group_sponsors).length).toBeGreaterThan(0);
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
      ['list_users', {}],
      ['list_group_members', { groupname: 'packager' }],
      ['list_group_sponsors', { groupname: 'packager' }],
      ['search', { username: 'ali' }],
    ])(
      'makes a client that reads only the masked keys of %s',
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

    it('makes a client that searches by date and by several groups', async () => {
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

    it('makes a client that reads pages until there is no next page', async () => {
      const whole = await client.call('list_users', { 'X-Fields': 'username' });
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
        await site.client.ask('/fasjson/'),
        await site.client.ask('/fasjson/specs/v1.json'),
        await site.client.ask('/fasjson/v1/me/'),
        await site.client.ask('/fasjson/v1/nowhere/', { as: 'alice' }),
        await site.client.ask('/fasjson/v1/users/nobody/', { as: 'alice' }),
        await site.client.ask('/fasjson/v1/users/', { as: 'alice' }),
        await site.client.ask('/fasjson/v1/users/?page_size=1', {
          as: 'alice',
        }),
        await site.client.ask('/fasjson/v1/me/', {
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
      const own = await site.client.ask('/v1/me/', { as: 'alice' });
      expect(own.headers.get('content-type')).toBe(
        'application/json; charset=utf-8',
      );
    });
  });
}

/** Everything in a result that is neither a plain object, a list nor a scalar. */
function notJson(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const isPlain =
    Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.values(value).flatMap(notJson) : [value];
}
