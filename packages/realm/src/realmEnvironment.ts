import type { Realm } from './Realm';

/**
 * Environment variables that tell a program about a realm: `KRB5_CONFIG`,
 * `KEYTAB` (everybody's keys), `REALM`, `REALM_BASE_DN`, `REALM_LDAP_URL`,
 * `REALM_LDAPS_URL`, `REALM_CA_FILE`, `REALM_BIND_DN`,
 * `REALM_BIND_PASSWORD_FILE`, `REALM_HTTP_KEYTAB`, `REALM_ACCESS_LOG`.
 */
export function realmEnvironment(
  realm: Omit<Realm, 'env'>,
): Record<string, string> {
  return {
    KRB5_CONFIG: realm.krb5Config,
    KEYTAB: realm.peopleKeytab,
    REALM: realm.realm,
    REALM_BASE_DN: realm.baseDn,
    REALM_LDAP_URL: realm.ldapUrl,
    REALM_LDAPS_URL: realm.ldapsUrl,
    REALM_CA_FILE: realm.caFile,
    REALM_BIND_DN: realm.bindDn,
    REALM_BIND_PASSWORD_FILE: realm.bindPasswordFile,
    REALM_HTTP_KEYTAB: realm.keytab,
    REALM_ACCESS_LOG: realm.accessLog,
  };
}
