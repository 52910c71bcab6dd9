import { basename, dirname, join } from 'node:path';

/** Names that are reserved for tests (RFC 2606). */
export const REALM = 'EXAMPLE.TEST';
export const BASE_DN = 'dc=example,dc=test';
/** The gateway's service account. */
export const PORTAL_DN = `uid=portal,cn=sysaccounts,cn=etc,${BASE_DN}`;
/** Administrator of the directory server. */
export const ROOT_DN = 'cn=Directory Manager';

/** Folder of this package, which runs from its sources. */
export const PACKAGE_FOLDER = dirname(
  require.resolve('@directory-gateway/realm/package.json'),
);

/** Paths in the folder of a realm. */
export type RealmFiles = ReturnType<typeof realmFiles>;

/** Returns the paths in the folder of a realm. */
export function realmFiles(folder: string) {
  const file = (name: string) => join(folder, name);
  return {
    folder,
    /** Files of the directory server. */
    instance: file('instance'),
    /** Folder of its `dse.ldif`. */
    config: file('instance/etc/dirsrv/slapd-realm'),
    /**
     * A unique path of `config`: the server names a system-wide semaphore after
     * its last component.
     */
    uniqueConfig: file(`slapd-${basename(folder)}`),
    logs: file('instance/var/log/dirsrv'),
    accessLog: file('instance/var/log/dirsrv/access'),
    krb5Config: file('krb5.conf'),
    kdcConfig: file('kdc.conf'),
    kdc: file('kdc'),
    tickets: file('tickets'),
    httpKeytab: file('http.keytab'),
    ldapKeytab: file('ldap.keytab'),
    peopleKeytab: file('people.keytab'),
    caFile: file('ca.pem'),
    portalPasswordFile: file('portal.password'),
    rootPasswordFile: file('root.password'),
  };
}
