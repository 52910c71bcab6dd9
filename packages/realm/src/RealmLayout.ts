import { basename, join } from 'node:path';

/** Names that are reserved for tests (RFC 2606). */
export const REALM = 'EXAMPLE.TEST';
export const BASE_DN = 'dc=example,dc=test';
export const PORTAL_DN = `uid=portal,cn=sysaccounts,cn=etc,${BASE_DN}`;
export const ROOT_DN = 'cn=Directory Manager';

/** Paths in a realm's folder. */
export interface RealmLayout {
  dir: string;
  /** Root of the dscreate installation. */
  instance: string;
  /** Folder of dse.ldif, the schema and the certificates. */
  config: string;
  /**
   * A unique path of `config`: the server names a system-wide semaphore after
   * its last component.
   */
  ownConfig: string;
  /** The semaphore, which remains after the server is killed. */
  semaphore: string;
  logs: string;
  accessLog: string;
  krb5Config: string;
  kdcConfig: string;
  kdc: string;
  tickets: string;
  httpKeytab: string;
  ldapKeytab: string;
  peopleKeytab: string;
  caFile: string;
  portalPasswordFile: string;
  rootPasswordFile: string;
}

/** Returns the paths of a realm. */
export function realmLayout(dir: string): RealmLayout {
  const instance = join(dir, 'instance');
  const own = `slapd-${basename(dir)}`;
  const logs = join(instance, 'var/log/dirsrv/slapd-realm');
  return {
    dir,
    instance,
    config: join(instance, 'etc/dirsrv/slapd-realm'),
    ownConfig: join(dir, own),
    semaphore: `/dev/shm/sem.${own}.stats`,
    logs,
    accessLog: join(logs, 'access'),
    krb5Config: join(dir, 'krb5.conf'),
    kdcConfig: join(dir, 'kdc.conf'),
    kdc: join(dir, 'kdc'),
    tickets: join(dir, 'tickets'),
    httpKeytab: join(dir, 'http.keytab'),
    ldapKeytab: join(dir, 'ldap.keytab'),
    peopleKeytab: join(dir, 'people.keytab'),
    caFile: join(dir, 'ca.pem'),
    portalPasswordFile: join(dir, 'portal.password'),
    rootPasswordFile: join(dir, 'root.password'),
  };
}
