import { startRealm } from '@directory-gateway/realm';
import { openLdapDirectory } from '../__testUtils__/openLdapDirectory';
import { describeDirectory } from '../directory/conformance';

jest.setTimeout(180_000);

describe.each([
  { schema: 'fas', searches: 1000 },
  { schema: 'freeipa', searches: 400 },
] as const)('LDAP', ({ schema, searches }) => {
  describeDirectory('LdapDirectory', {
    schema,
    searches,
    startRealm,
    create: async realm => openLdapDirectory({ realm, schema }),
  });
});
