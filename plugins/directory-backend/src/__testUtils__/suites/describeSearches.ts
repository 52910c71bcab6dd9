/* eslint-disable jest/no-export -- a suite of wholePortal.integration.test.ts */
import assert from 'node:assert';
import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import {
  AccessLog,
  type LoggedSearch,
} from '@directory-gateway/ldap/testUtils';
import { form, resultOf } from '../gateway/GatewayClient';
import { makeCsr } from '../certificates/makeCsr';
import { HttpClient } from '../gateway/HttpClient';
import type { Site } from '../gateway/withGateway';

const READS: readonly [operationId: string, path: string, mask?: string][] = [
  ['whoami', '/me/'],
  ['list_users', '/users/?page_size=100'],
  ['list_users', '/users/?page_number=9'],
  ['get_user', '/users/alice/'],
  ['get_user', '/users/nobody/'],
  ['list_user_groups', '/users/alice/groups/', '*'],
  ['list_user_agreements', '/users/alice/agreements/'],
  ['list_user_memberships', '/users/alice/memberships/'],
  ['list_sponsored_groups', '/users/alice/sponsored-groups/'],
  ['list_user_certificates', '/users/alice/certificates/'],
  ['list_groups', '/groups/', '*,member_count'],
  ['get_group', '/groups/packager/'],
  ['list_group_members', '/groups/packager/members/', '*'],
  ['list_group_members', '/groups/packager/members/?membership=indirect&q=ali'],
  ['list_group_memberships', '/groups/packager/memberships/', '*,joined'],
  ['list_group_memberships', '/groups/packager/memberships/?sort=-direct'],
  ['list_group_sponsors', '/groups/design/sponsors/', '*'],
  ['list_member_groups', '/groups/packager/member-groups/'],
  ['check_membership', '/groups/packager/is-member/erin'],
  ['check_membership', '/groups/nope/is-member/alice'],
  ['search', '/search/users/?username=ali&group=packager&group=contributors'],
  ['search', '/search/users/?group=*'],
  ['search_groups', '/search/groups/?q=pack'],
  ['list_colleagues', '/me/colleagues/'],
  ['export_group_members', '/groups/contributors/members.csv'],
];

/** Whether a caller, or the subject of a certificate, is looked up. */
function isLookup({ attributes }: LoggedSearch): boolean {
  return attributes.includes('krbPrincipalExpiration');
}

/** Filters with which the replica reads all entries, also in the background. */
const ALL_ENTRIES = [
  '(|(objectClass=fasGroup)(member=*))',
  '(objectClass=fasAgreement)',
];

/**
 * Whether the replica follows the directory or compares all entries, or a
 * connection is probed.
 */
function isOfReplica({ attributes, filter }: LoggedSearch): boolean {
  return (
    ['entryusn', 'ipaUniqueID', 'lastusn', '1.1'].includes(attributes[0]) ||
    /^\(entryusn>=|^\(\|\(ipaUniqueID=/.test(filter) ||
    ALL_ENTRIES.includes(filter)
  );
}

/**
 * Suite of the LDAP searches that requests cause: the guest is a user of the
 * directory, and the rights of the service account are checked only at the start.
 */
export function describeSearches(site: Site): void {
  describe('LDAP searches', () => {
    let log: AccessLog;
    let client: HttpClient;

    beforeAll(async () => {
      log = new AccessLog(site.realm);
      client = await HttpClient.asGuest(site.gateway);
      await eventually(async () =>
        assert.equal((await client.request('/v1/users/')).status, 200),
      );
    });

    /** Returns the searches that the gateway sends during a call. */
    async function searchesDuring(
      call: () => Promise<unknown>,
    ): Promise<readonly LoggedSearch[]> {
      await log.searches();
      await call();
      return log.searches();
    }

    it('tests every operation that reads the directory', () => {
      const operations = Object.values(
        openApiDocument.paths as Record<
          string,
          { get?: { operationId: string } }
        >,
      ).flatMap(({ get }) => get?.operationId ?? []);
      // These query a CA, the database, nothing, or the principal as each caller is
      // looked up.
      const others = [
        'get_cert',
        'list_certificate_profiles',
        'get_account',
        'get_operations',
        'list_changes',
        'list_group_history',
        'list_user_history',
      ];
      expect(new Set(READS.map(([operationId]) => operationId))).toEqual(
        new Set(operations.filter(id => !others.includes(id))),
      );
    });

    it('sends no LDAP search for reads', async () => {
      const statuses: number[] = [];
      const sent = await searchesDuring(async () => {
        for (const [, path, mask] of READS) {
          statuses.push((await client.request(`/v1${path}`, { mask })).status);
        }
      });
      expect(statuses).toEqual(
        READS.map(([, path]) => (/nobody|nope/.test(path) ? 404 : 200)),
      );
      expect(
        sent.filter(each => !isLookup(each) && !isOfReplica(each)),
      ).toEqual([]);
    });

    it('does not look up a caller for each request', async () => {
      const requests = 200;
      const sent = await searchesDuring(async () => {
        for (let count = 0; count < requests; count++) {
          await client.request('/v1/users/?page_size=1', { mask: 'username' });
        }
      });
      expect(sent.filter(isLookup).length).toBeLessThan(requests);
      expect(
        sent.filter(each => !isLookup(each) && !isOfReplica(each)),
      ).toEqual([]);
    });

    it('looks up the caller with a Kerberos ticket in one search', async () => {
      const sent = await searchesDuring(() =>
        site.client.request('/v1/groups/packager/is-member/alice', { as: 'x' }),
      );
      expect(sent.filter(each => !isOfReplica(each))).toEqual([
        expect.objectContaining({
          base: 'cn=accounts,dc=example,dc=test',
          filter: expect.stringMatching(
            /^\(krbPrincipalName=x@EXAMPLE\.TEST\)$/i,
          ),
        }),
      ]);
    });

    it.each(['first', 'second'])(
      'looks up the subject of a certificate for the %s signature',
      async () => {
        let result: unknown;
        const csr = makeCsr({ subject: '/CN=bob' });
        const sent = await searchesDuring(async () => {
          const body = form({ user: 'bob', csr, dry_run: 'true' });
          result = resultOf(
            await site.client.request('/v1/certs/', { as: 'bob', ...body }),
          );
        });
        expect(result).toMatchObject({ would_sign: true });
        // By the user name; the caller is found by the principal name.
        const ofSubject = sent.filter(
          each =>
            isLookup(each) &&
            each.base === 'uid=bob,cn=users,cn=accounts,dc=example,dc=test',
        );
        expect(ofSubject).toHaveLength(1);
      },
    );
  });
}
