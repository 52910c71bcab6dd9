/* eslint-disable jest/no-export -- a suite of api.integration.test.ts */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  dumpEntries,
  NaiveDirectory,
} from '@directory-gateway/directory-core/testUtils';
import { tokenByTicket } from '../gateway/signIn';
import type { Site } from '../gateway/withGateway';

const WHO = 'bob';

const page = { number: 1, size: 10_000 };

const everything = { from: { kind: 'all' }, page } as const;

/**
 * Suite of a portal that shows users the groups that they are in or sponsor
 * (`portal.ts`).
 */
export function describeVisibility(site: Site): void {
  describe('visibility', () => {
    let all: NaiveDirectory;
    /** What the caller may see. */
    let shown: NaiveDirectory;
    let token: string;

    beforeAll(async () => {
      const { gateway, realm } = site;
      all = new NaiveDirectory(await dumpEntries(realm), 'fas');
      const own = await all.listGroups({
        from: { kind: 'ofUser', username: WHO },
        fields: new Set(),
        page,
      });
      shown = all.restrictedTo({
        users: {
          kind: 'anyOf',
          of: [
            { kind: 'isUser', username: WHO },
            ...own!.items.map(
              ({ group: { groupname } }) =>
                ({ kind: 'memberOf', groupname }) as const,
            ),
          ],
        },
        groups: {
          kind: 'anyOf',
          of: [
            { kind: 'hasMember', username: WHO },
            { kind: 'hasSponsor', username: WHO },
          ],
        },
      });
      token = await tokenByTicket(gateway, { realm, principal: WHO });
    });

    async function read(path: string) {
      const response = await fetch(
        `${site.gateway.baseUrl}/api/directory${path}`,
        {
          headers: { Authorization: `Bearer ${token}` },
        },
      );
      return { status: response.status, body: await response.text() };
    }

    /** The names of a list, which the policy may have shortened. */
    async function namesIn(path: string): Promise<readonly string[]> {
      const { status, body } = await read(path);
      expect({ path, status }).toEqual({ path, status: 200 });
      const { result } = JSON.parse(body);
      return result.map(
        (record: { username?: string; groupname?: string }) =>
          record.username ?? record.groupname,
      );
    }

    it('shows some of the users and groups', () => {
      expect(shown.users.length).toBeGreaterThan(1);
      expect(shown.users.length).toBeLessThan(all.users.length);
      expect(shown.groups.length).toBeGreaterThan(1);
      expect(shown.groups.length).toBeLessThan(all.groups.length);
    });

    it('limits lists, streams, searches and their totals', async () => {
      const users = shown.users.map(user => user.text('uid')!);
      const groups = shown.groups.map(group => group.text('cn')!);
      expect(await namesIn('/v1/users/?page_size=1000')).toEqual(users);
      expect(await namesIn('/v1/groups/?page_size=1000')).toEqual(groups);
      const { body } = await read('/v1/users/?page_size=1&page_number=1');
      expect(JSON.parse(body).total_results).toBe(users.length);
      const found = await namesIn(
        '/v1/search/users/?email=example&page_size=40',
      );
      expect(users).toEqual(expect.arrayContaining([...found]));
      for (const groupname of groups) {
        const path = encodeURIComponent(groupname);
        const from = { kind: 'membersOf', groupname } as const;
        const members = await shown.listUsers({
          ...everything,
          from,
          fields: new Set(),
        });
        const names = members!.items.map(({ username }) => username);
        expect(
          await namesIn(`/v1/groups/${path}/members/?page_size=1000`),
        ).toEqual(names);
        const csv = await read(`/v1/groups/${path}/members.csv`);
        expect(csv.body.trim().split('\r\n').slice(1)).toHaveLength(
          names.length,
        );
      }
    });

    it('does not find hidden users and groups by name', async () => {
      const statuses = new Map<string, Set<number>>();
      const record = (kind: string, { status }: { readonly status: number }) =>
        statuses.set(kind, (statuses.get(kind) ?? new Set()).add(status));
      for (const user of all.users) {
        const kind = shown.users.some(({ key }) => key === user.key);
        const name = user.text('uid');
        record(`user ${kind}`, await read(`/v1/users/${name}/`));
        record(`user ${kind}`, await read(`/v1/users/${name}/groups/`));
        record(`user ${kind}`, await read(`/v1/users/${name}/certificates/`));
      }
      for (const group of all.groups) {
        const kind = shown.groups.some(({ key }) => key === group.key);
        const name = encodeURIComponent(group.text('cn')!);
        record(`group ${kind}`, await read(`/v1/groups/${name}/`));
        record(
          `group ${kind}`,
          await read(`/v1/groups/${name}/members/?page_size=1000`),
        );
        record(
          `group ${kind}`,
          await read(`/v1/groups/${name}/is-member/${WHO}`),
        );
      }
      expect(Object.fromEntries(statuses)).toEqual({
        'user true': new Set([200]),
        'user false': new Set([404]),
        'group true': new Set([200]),
        'group false': new Set([404]),
      });
    });

    it('does not name hidden groups in the paths of memberships', async () => {
      const { body } = await read(
        '/v1/groups/packager/memberships/?page_size=1000',
      );
      const { result } = JSON.parse(body);
      const steps = result.flatMap(({ path }: { path: string[] }) => path);
      expect(new Set(steps)).toEqual(new Set(['packager', null]));
    });

    it.each(['user', 'group'] as const)(
      'allows reading exactly the entries in the lists (%s)',
      async kind => {
        const entries = kind === 'user' ? all.users : all.groups;
        const visible = kind === 'user' ? shown.users : shown.groups;
        const attribute = kind === 'user' ? 'uid' : 'cn';
        const names = [
          ...entries.map(entry => entry.text(attribute)!),
          'nobody',
        ];
        const response = await fetch(
          `${site.gateway.baseUrl}/api/permission/authorize`,
          {
            method: 'POST',
            headers: {
              Authorization: `Bearer ${token}`,
              'Content-Type': 'application/json',
            },
            body: JSON.stringify({
              items: names.map(resourceRef => ({
                id: resourceRef,
                permission: {
                  type: 'resource',
                  name: `directory.${kind}.read`,
                  attributes: { action: 'read' },
                  resourceType: `directory-${kind}`,
                },
                resourceRef,
              })),
            }),
          },
        );
        const { items } = (await response.json()) as {
          items: { id: string; result: string }[];
        };
        const allowed = items.filter(({ result }) => result === 'ALLOW');
        expect(allowed.map(({ id }) => id)).toEqual(
          visible.map(entry => entry.text(attribute)),
        );
      },
    );

    it('shows everything to a caller with a ticket', async () => {
      const { json } = await site.client.as(WHO).request('/v1/groups/');
      expect(json).toMatchObject({
        result: { length: all.groups.length },
      });
    });

    it('is documented with the policy of this test', () => {
      const policy = readFileSync(join(__dirname, 'showOwnGroups.ts'), 'utf8');
      const text = readFileSync(
        resolve(__dirname, '../../../../../docs/privacy.md'),
        'utf8',
      );
      expect(text).toContain(`\`\`\`ts\n${policy}\`\`\``);
    });
  });
}
