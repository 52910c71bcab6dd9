import { basename, join } from 'node:path';

/** The realm and the suffix; the examples of RFC 2606, so never anybody's. */
export const REALM = 'EXAMPLE.TEST';
export const BASE_DN = 'dc=example,dc=test';
export const PORTAL_DN = `uid=portal,cn=sysaccounts,cn=etc,${BASE_DN}`;
export const ROOT_DN = 'cn=Directory Manager';

/** Where everything is in a realm's folder. */
export interface RealmLayout {
  dir: string;
  /** Root of the dscreate installation. */
  instance: string;
  /** Configuration of the directory server: dse.ldif, schema, certificates. */
  config: string;
  /**
   * Another path of it, which the server runs with. The server makes a system
   * wide semaphore after the last part of this path, so it must be like no
   * other realm's.
   */
  ownConfig: string;
  /** That semaphore, which a server that is killed leaves behind. */
  semaphore: string;
  /** Folder of its logs. */
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

/** The paths of a realm in this folder. */
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
