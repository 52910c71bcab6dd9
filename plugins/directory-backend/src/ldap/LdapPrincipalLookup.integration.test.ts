import { startRealm } from '@directory-gateway/realm';
import { describePrincipalLookup } from '../__testUtils__/conformance/describePrincipalLookup';
import { openLdapPrincipals } from '../__testUtils__/ldap/openLdap';

jest.setTimeout(180_000);

describe.each(['fas', 'freeipa'] as const)('LDAP', schema => {
  describePrincipalLookup('LdapPrincipalLookup', {
    schema,
    startRealm,
    open: realm => openLdapPrincipals({ realm, schema }),
  });
});
