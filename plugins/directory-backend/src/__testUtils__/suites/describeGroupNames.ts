/* eslint-disable jest/no-export -- a suite of api.integration.test.ts */
import { resultOf } from '../gateway/GatewayClient';
import type { Site } from '../gateway/withGateway';

/** Suite of group names with spaces, which the schema `freeipa` serves. */
export function describeGroupNames(site: Site): void {
  describe('groups whose names contain spaces', () => {
    const get = (path: string) => site.client.request(path, { as: 'alice' });
    const uri = (name: string) =>
      `${site.gateway.baseUrl}/api/directory/v1/groups/${name}/`;

    describe('a group whose name contains spaces', () => {
      it.each(['trust%20admins', 'TRUST%20Admins'])(
        'is served as %s',
        async name => {
          const group = resultOf(await get(`/v1/groups/${name}/`));
          expect(group).toMatchObject({
            groupname: 'trust admins',
            uri: uri('trust%20admins'),
          });
        },
      );

      it('has members, sponsors and an export', async () => {
        const members = await get('/v1/groups/trust%20admins/members/');
        expect(members.json).toMatchObject({
          result: [{ username: 'admin' }],
          total_results: 1,
        });
        const sponsors = await get('/v1/groups/design%20team/sponsors/');
        expect(sponsors.json).toMatchObject({
          result: [{ username: 'alice' }],
        });
        const file = await get('/v1/groups/design%20team/members.csv');
        expect([file.status, file.headers.get('content-disposition')]).toEqual([
          200,
          'attachment; filename="design team-members.csv"',
        ]);
        expect(file.text).toContain('alice,');
      });

      it.each([
        ['admin', true],
        ['alice', false],
      ])('reports whether %s is a member', async (username, isMember) => {
        const path = `/v1/groups/trust%20admins/is-member/${username}`;
        expect((await get(path)).json).toEqual({ result: isMember });
      });

      it.each(['trust%20admins', 'trust+admins', '+TRUST++admins%20'])(
        'is found by the search term %s',
        async name => {
          const { json } = await get(`/v1/search/users/?group=${name}`);
          expect(json).toMatchObject({
            result: [{ username: 'admin' }],
            total_results: 1,
          });
        },
      );

      it('is listed, found and shown as a membership', async () => {
        const item = {
          groupname: 'trust admins',
          uri: uri('trust%20admins'),
        };
        for (const path of [
          '/v1/groups/?page_size=1000',
          '/v1/search/groups/?q=trust%20adm',
          '/v1/users/admin/groups/',
          '/v1/users/admin/memberships/',
        ]) {
          const { json } = await get(path);
          expect(json).toMatchObject({
            result: expect.arrayContaining([expect.objectContaining(item)]),
          });
        }
      });
    });

    it.each(['%20trust%20admins', 'trust%20admins%20', 'trust%20%20admins'])(
      'does not serve a group as %s',
      async name => {
        for (const path of ['', 'members/', 'sponsors/', 'is-member/admin']) {
          const { status, json } = await get(`/v1/groups/${name}/${path}`);
          expect([status, json]).toMatchObject([
            404,
            { message: 'Group not found', groupname: decodeURIComponent(name) },
          ]);
        }
      },
    );

    it('does not serve a user whose name contains a space', async () => {
      const { status, json } = await get('/v1/users/trust%20admins/');
      expect([status, json]).toMatchObject([
        404,
        { message: 'User not found' },
      ]);
    });
  });
}
