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
export function realmFiles(dir: string) {
  const file = (name: string) => join(dir, name);
  return {
    /** Private folder. */
    dir,
    /** Files of the directory server. */
    instance: file('instance'),
    /** Folder of its `dse.ldif`. */
    config: file('instance/etc/dirsrv/slapd-realm'),
    /**
     * A unique path of `config`: the server names a system-wide semaphore after
     * its last component.
     */
    uniqueConfig: file(`slapd-${basename(dir)}`),
    /** Access log of the directory server; see `RealmOptions.accessLog`. */
    accessLog: file('instance/var/log/dirsrv/access'),
    errorLog: file('instance/var/log/dirsrv/errors'),
    /** Path of `krb5.conf`, for `KRB5_CONFIG`. */
    krb5Config: file('krb5.conf'),
    kdcConfig: file('kdc.conf'),
    kdc: file('kdc'),
    /** The gateway's keytab, with HTTP/localhost only. */
    keytab: file('http.keytab'),
    ldapKeytab: file('ldap.keytab'),
    /** Keytab with the keys of all people, services and hosts. */
    peopleKeytab: file('people.keytab'),
    /** Folder of credential caches. */
    tickets: file('tickets'),
    /** CA certificate of LDAPS, in PEM. */
    caFile: file('ca.pem'),
    /** Password of the gateway's service account. */
    bindPasswordFile: file('portal.password'),
    rootPasswordFile: file('root.password'),
  };
}
