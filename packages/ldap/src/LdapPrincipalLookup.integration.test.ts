import { startRealm } from '@directory-gateway/realm';
import { describePrincipalLookup } from '@directory-gateway/directory-core/testUtils';
import { openLdapPrincipals } from './__testUtils__/openLdap';

jest.setTimeout(180_000);

describe.each(['fas', 'freeipa'] as const)('LDAP', schema => {
  describePrincipalLookup('LdapPrincipalLookup', {
    schema,
    startRealm,
    open: realm => openLdapPrincipals({ realm, schema }),
  });
});
