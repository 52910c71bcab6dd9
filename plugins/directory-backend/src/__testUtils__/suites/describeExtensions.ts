/* eslint-disable jest/no-export -- a suite of api.integration.test.ts */
import assert from 'node:assert/strict';
import {
  addGroup,
  eventually,
  groupDn,
  userDn,
} from '@directory-gateway/directory-core/testUtils';
import type { ClientResponse } from '../gateway/GatewayClient';
import { HttpClient } from '../gateway/HttpClient';
import { tokenByTicket } from '../gateway/signIn';
import type { Site } from '../gateway/withGateway';

const items = (response: ClientResponse) =>
  (response.json as { result: Record<string, unknown>[] }).result;

const named = (response: ClientResponse, groupname: string) =>
  items(response).find(item => item.groupname === groupname);

/** Suite of the operations and parameters that FASJSON does not have. */
export function describeExtensions(site: Site): void {
  describe('extensions', () => {
    const get = (path: string, mask?: string) =>
      site.client.request(`/v1${path}`, {
        as: 'alice',
        headers: mask === undefined ? {} : { 'X-Fields': mask },
      });

    beforeAll(async () => {
      const fasGroup = { objectClass: ['ipaUserGroup', 'fasGroup'] };
      await site.realm.modify(
        [
          // Nested groups first: the memberOf plugin computes upwards.
          addGroup('inner', [userDn('dave'), userDn('carol')], fasGroup),
          addGroup('middle', [groupDn('inner')]),
          addGroup('outer', [groupDn('middle'), userDn('erin')], {
            ...fasGroup,
            memberManager: [groupDn('inner')],
          }),
          `dn: ${userDn('dave')}\nchangetype: modify\nreplace: displayName\n` +
            'displayName: =HYPERLINK("http://x","a;b")\n\n',
        ].join(''),
      );
      await eventually(async () => {
        const members = await get('/groups/outer/members/', 'human_name');
        assert.equal(items(members).length, 2);
        assert.match(String(items(members)[0].human_name), /^=HYPERLINK/);
      });
    });

    describe('memberships of a user', () => {
      it('have a chain of groups, in which groups that are not served are null', async () => {
        const response = await get('/users/dave/memberships/?page_size=1000');
        expect(named(response, 'outer')).toMatchObject({
          direct: false,
          sponsor: true,
          path: ['inner', null, 'outer'],
          uri: expect.stringMatching(/\/groups\/outer\/$/),
        });
        expect(named(response, 'inner')).toMatchObject({
          direct: true,
          sponsor: false,
          path: ['inner'],
        });
      });

      it('follow a change in the directory', async () => {
        const change = (verb: string) =>
          site.realm.modify(
            `dn: ${groupDn('outer')}\nchangetype: modify\n` +
              `${verb}: member\nmember: ${userDn('dave')}\n\n`,
          );
        const path = async () =>
          named(await get('/users/dave/memberships/?page_size=1000'), 'outer')
            ?.path;
        await change('add');
        await eventually(async () => expect(await path()).toEqual(['outer']));
        await change('delete');
        const before = ['inner', null, 'outer'];
        await eventually(async () => expect(await path()).toEqual(before));
      });
    });

    describe('groups', () => {
      it('are sponsored by members of sponsoring groups', async () => {
        expect(
          items(await get('/users/dave/sponsored-groups/')),
        ).toContainEqual({
          groupname: 'outer',
          uri: `${site.gateway.baseUrl}/api/directory/v1/groups/outer/`,
        });
      });

      it('are nested without groups that are not served', async () => {
        const outer = await get(
          '/groups/outer/member-groups/',
          'groupname,has_member_groups,member_count',
        );
        expect(items(outer)).toEqual([
          // Carol's account is locked.
          { groupname: 'inner', has_member_groups: false, member_count: 1 },
        ]);
      });

      it.each([
        '/groups/?page_size=1000',
        '/users/dave/memberships/?page_size=1000',
      ])('have member counts if the mask contains them: %s', async path => {
        const counted = items(await get(path, 'groupname,member_count'));
        expect(counted.length).toBeGreaterThan(2);
        for (const { groupname, member_count } of counted) {
          const name = encodeURIComponent(String(groupname));
          const members = await get(`/groups/${name}/members/`);
          expect([groupname, member_count]).toEqual([
            groupname,
            (members.json as { total_results: number }).total_results,
          ]);
        }
        const starred = items(await get(path, '*'));
        expect(starred.some(item => 'member_count' in item)).toBe(false);
      });

      it('are found by parts of their name or description', async () => {
        const response = await get('/search/groups/?q=OUT');
        expect(named(response, 'outer')).toBeDefined();
        for (const query of ['groupname__exact=outer', 'q=outer', 'q=OUTER']) {
          const [first] = items(await get(`/search/groups/?${query}`));
          expect(first).toMatchObject({ groupname: 'outer' });
        }
        const similar = await get('/search/groups/?q=uoter&similar=true');
        expect(named(similar, 'outer')).toBeDefined();
      });

      it('are found by a member and sorted', async () => {
        const found = async (query: string) =>
          items(
            await get(`/search/groups/?${query}`, 'groupname,member_count'),
          );
        const own = await get('/users/dave/groups/?page_size=1000');
        const mine = await found('member=dave&page_size=40');
        expect(mine.map(({ groupname }) => groupname)).toEqual(
          items(own).map(({ groupname }) => groupname),
        );
        expect(await found('member=dave&sort=-groupname')).toEqual(
          mine.toReversed(),
        );
        const bySize = await found('groupname=*&sort=-member_count');
        const sizes = bySize.map(({ member_count }) => Number(member_count));
        expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
        expect(new Set(sizes).size).toBeGreaterThan(2);
        const [first] = await found('q=outer&member=erin&sort=groupname');
        expect(first).toEqual({ groupname: 'outer', member_count: 2 });
      });

      it.each([
        ['', 'At least one search term must be provided.'],
        ['q=abc&name=x&sort=irc', 'Input payload validation failed'],
      ])('cannot be searched with "%s"', async (query, message) => {
        const response = await get(`/search/groups/?${query}`);
        expect([response.status, response.json]).toEqual([
          400,
          expect.objectContaining({ message }),
        ]);
      });
    });

    describe('members of a group', () => {
      const names = async (query: string) =>
        items(await get(`/groups/outer/members/?${query}`)).map(
          ({ username }) => username,
        );

      it('are selected by a text and by the kind of membership', async () => {
        expect(await names('')).toEqual(['dave', 'erin']);
        expect(await names('membership=direct')).toEqual(['erin']);
        expect(await names('membership=indirect')).toEqual(['dave']);
        expect(await names('q=%20dav%20')).toEqual(['dave']);
        expect(await names('q=dave&membership=direct')).toEqual([]);
        expect(await names('q=')).toEqual(['dave', 'erin']);
      });
    });

    describe('memberships of a group', () => {
      const list = (query: string, mask?: string) =>
        get(`/groups/outer/memberships/?${query}`, mask);
      const names = async (query: string) =>
        items(await list(query)).map(({ username }) => username);

      it('include the reason for each membership', async () => {
        const response = await list('', 'username,direct,sponsor,path,joined');
        expect(items(response)).toEqual([
          {
            username: 'dave',
            direct: false,
            sponsor: true,
            path: ['inner', null, 'outer'],
            joined: null, // there is no history
          },
          {
            username: 'erin',
            direct: true,
            sponsor: false,
            path: ['outer'],
            joined: null,
          },
        ]);
      });

      it('are filtered by text, by kind and to locked accounts', async () => {
        expect(await names('q=dav')).toEqual(['dave']);
        expect(await names('membership=direct')).toEqual(['erin']);
        const locked = await list('membership=locked', 'username,locked,path');
        expect(items(locked)).toEqual([
          { username: 'carol', locked: true, path: ['inner', null, 'outer'] },
        ]);
        expect((await list('membership=both')).status).toBe(400);
        const members = '/groups/outer/members/?membership=locked';
        expect((await get(members)).status).toBe(400);
      });

      it.each([
        ['username', ['dave', 'erin']],
        ['-username', ['erin', 'dave']],
        ['direct', ['erin', 'dave']],
        ['sponsor', ['dave', 'erin']],
        ['human_name', ['dave', 'erin']],
        ['joined', ['dave', 'erin']],
      ])('are sorted by %s', async (sort, expected) => {
        expect(await names(`sort=${sort}`)).toEqual(expected);
      });

      it('return 400 for an unknown sort key and 404 for an unknown group', async () => {
        expect((await list('sort=emails')).status).toBe(400);
        expect((await get('/groups/nope/memberships/')).status).toBe(404);
      });
    });

    describe('exported members', () => {
      it('are selected, sorted and returned with reasons', async () => {
        const path = '/groups/outer/members.csv';
        const all = await get(
          `${path}?sort=-direct`,
          'username,direct,path,sponsor,locked',
        );
        expect(all.text.split('\r\n')).toEqual([
          'username,direct,path,sponsor,locked',
          'dave,false,"inner; ; outer",true,false',
          'erin,true,outer,false,false',
          '',
        ]);
        const locked = await get(`${path}?membership=locked`, 'username');
        expect(locked.text).toBe('username\r\ncarol\r\n');
      });

      it('are CSV in the order of the list', async () => {
        const response = await get('/groups/outer/members.csv');
        const [header, dave, erin, end] = response.text.split('\r\n');
        expect(header).toBe('username,human_name,emails,uri');
        // Not a formula, and quoted (RFC 4180 §2).
        expect(dave).toContain('dave,"\'=HYPERLINK(""http://x"",""a;b"")",');
        expect(erin).toMatch(/^erin,/);
        expect(end).toBe('');
        expect(response.headers.get('x-total-results')).toBe('2');
        expect(response.headers.get('content-disposition')).toBe(
          'attachment; filename="outer-members.csv"',
        );
      });

      it('have the columns of the mask, and a header without members', async () => {
        const masked = await get(
          '/groups/outer/members.csv',
          'emails,username',
        );
        expect(masked.text.split('\r\n')[0]).toBe('emails,username');
        const empty = await get('/groups/outer/members.csv', 'nope');
        expect(empty.status).toBe(200);
      });

      it('are audited, but not HEAD requests', async () => {
        const events = () => site.gateway.log().split('group-export').length;
        const before = events();
        const head = await site.client.request('/v1/groups/outer/members.csv', {
          as: 'alice',
          method: 'HEAD',
        });
        expect(head.headers.get('x-total-results')).toBe('2');
        expect(events()).toBe(before);
        await get('/groups/outer/members.csv');
        expect(events()).toBeGreaterThan(before);
      });
    });

    describe('colleagues', () => {
      it('are sorted newest first, without the caller', async () => {
        const response = await get(
          '/me/colleagues/',
          'username,creation,locked',
        );
        const people = items(response);
        const times = people.map(({ creation }) => String(creation ?? ''));
        expect(people.length).toBeGreaterThan(3);
        expect(times).toEqual(times.toSorted().toReversed());
        expect(people.some(({ username }) => username === 'alice')).toBe(false);
        expect(people.every(({ locked }) => locked === false)).toBe(true);
      });

      it('require a user of the directory', async () => {
        // A user outside of the namespace of directory users.
        const stranger = await HttpClient.asGuest(site.gateway);
        expect(await stranger.request('/v1/me/colleagues/')).toMatchObject({
          status: 403,
          json: { message: 'You have no identity in the directory.' },
        });
        const host = await site.client.request('/v1/me/colleagues/', {
          as: 'host/build1.example.test',
        });
        expect(host.json).toMatchObject({ result: [], total_results: 0 });
      });
    });

    it.each([
      ...['/users/nobody/memberships/', '/users/nobody/sponsored-groups/'],
      ...['/users/nobody/certificates/', '/groups/nope/member-groups/'],
      ...['/groups/nope/members.csv', '/groups/-dash/members/?q=alice'],
    ])('returns 404 for %s', async path => {
      expect((await get(path)).status).toBe(404);
    });
  });
}

/** Suite that kills the directory server: the last one of its site. */
export function describeOutage(site: Site): void {
  it('does not return an empty list while the directory is unavailable', async () => {
    const { gateway, realm } = site;
    const token = await tokenByTicket(gateway, { realm, principal: 'dave' });
    const portal = HttpClient.withToken(gateway, token);
    const paths = [
      ...['/users/dave/memberships/', '/users/dave/sponsored-groups/'],
      ...['/users/dave/certificates/', '/groups/packager/member-groups/'],
      ...['/groups/packager/members/?membership=direct'],
      ...['/groups/packager/members/?q=dave', '/groups/packager/members.csv'],
      ...['/search/groups/?q=pack'],
    ];
    for (const path of paths) {
      const { status } = await portal.request(`/v1${path}`);
      expect([path, status]).toEqual([path, 200]);
    }
    await realm.directory.kill();
    await eventually(async () => {
      const response = await portal.request('/v1/groups/', {
        mask: 'member_count',
      });
      expect(response.status).toBe(503);
    });
    for (const path of paths) {
      const { status, headers } = await portal.request(`/v1${path}`);
      expect([path, status]).toEqual([path, 503]);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
  });
}
