import { ldapOf } from '@directory-gateway/ldap/testUtils';
import {
  embeddedAuthority,
  exportForAll,
} from '../__testUtils__/gateway/directoryConfig';
import { withGateway } from '../__testUtils__/gateway/withGateway';
import { describeSearches } from '../__testUtils__/suites/describeSearches';
import {
  describeSessions,
  writeSessionKey,
} from '../__testUtils__/suites/describeSessions';

jest.setTimeout(600_000);

/** The whole portal, whose users are users of the directory. */
const site = withGateway({
  configure: async realm => ({
    entry: 'portal',
    // Administrators may export members.
    policy: {
      administrators: ['user:default/alice'],
      dangerouslyAllowGuests: true,
    },
    directory: {
      access: exportForAll,
      portalUsers: { namespace: 'default', username: 'entityName' },
      sessions: { keys: [{ secretFile: await writeSessionKey(realm) }] },
      certificates: embeddedAuthority(realm),
      // The account's rights are checked once, at the start.
      ldap: { ...ldapOf(realm), probeInterval: { hours: 1 } },
    },
  }),
});

describeSearches(site);
describeSessions(site);

describe('the API alone', () => {
  const api = withGateway({
    within: site,
    configure: () => ({ entry: 'api' }),
  });

  it('serves callers with a ticket, and no other part of the portal', async () => {
    const me = await api.client.request('/v1/me/', { as: 'alice' });
    expect(me).toMatchObject({
      status: 200,
      json: { result: { username: 'alice' } },
    });
    for (const path of [
      '/',
      '/api/catalog/entities',
      '/api/auth/guest/refresh',
    ]) {
      const response = await fetch(`${api.gateway.baseUrl}${path}`);
      expect([path, response.status]).toEqual([path, 404]);
    }
  });

  it('does not accept the token of another portal', async () => {
    const { backstageIdentity } = (await (
      await fetch(`${site.gateway.baseUrl}/api/auth/guest/refresh`, {
        headers: { 'x-requested-with': 'XMLHttpRequest' },
      })
    ).json()) as { backstageIdentity: { token: string } };
    const statusOf = async (baseUrl: string) => {
      const response = await fetch(`${baseUrl}/api/directory/v1/me/`, {
        headers: { authorization: `Bearer ${backstageIdentity.token}` },
      });
      return response.status;
    };
    expect(await statusOf(site.gateway.baseUrl)).toBe(200);
    expect(await statusOf(api.gateway.baseUrl)).toBe(401);
  });
});
