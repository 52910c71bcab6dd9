import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Names that are reserved for tests (RFC 2606). */
export const REALM = 'EXAMPLE.TEST';
export const BASE_DN = 'dc=example,dc=test';
/** Administrator of the directory server. */
export const ROOT_DN = 'cn=Directory Manager';

/** Folder of this package, which runs from its sources. */
export const PACKAGE_FOLDER = dirname(
  require.resolve('@directory-gateway/realm/package.json'),
);

/** Reads a file of the folder `data`, with values for names between at signs. */
export function readData(
  file: string,
  values: Readonly<Record<string, string | number>> = {},
): string {
  const text = readFileSync(join(PACKAGE_FOLDER, 'data', file), 'utf8');
  return Object.entries(values).reduce(
    (filled, [name, value]) => filled.replaceAll(`@${name}@`, `${value}`),
    text,
  );
}

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
