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
