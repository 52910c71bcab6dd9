import type { JsonObject } from '@backstage/types';
import type { Realm } from '@directory-gateway/realm';
import { readFile } from 'node:fs/promises';

/** Returns the `catalog.providers.ldapOrg` block of the LDAP module. */
export async function ldapOrg(realm: Realm): Promise<JsonObject> {
  const { baseDn, bindDn: dn, ldapsUrl: target } = realm;
  const secret = (await readFile(realm.bindPasswordFile, 'utf8')).trim();
  return {
    default: {
      target,
      bind: { dn, secret },
      schedule: { frequency: { hours: 1 }, timeout: { minutes: 5 } },
      // The module recognizes FreeIPA by an attribute that the realm lacks.
      vendor: { dnAttributeName: 'dn', uuidAttributeName: 'ipaUniqueID' },
      users: {
        dn: `cn=users,cn=accounts,${baseDn}`,
        options: { filter: '(objectClass=posixAccount)' },
      },
      groups: {
        dn: `cn=groups,cn=accounts,${baseDn}`,
        options: { filter: '(objectClass=ipaUserGroup)' },
      },
    },
  };
}
