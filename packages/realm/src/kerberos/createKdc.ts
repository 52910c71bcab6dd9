import { randomBytes } from 'node:crypto';
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessOwner } from '../processes/ProcessOwner';
import { REALM, type RealmLayout, realmLayout } from '../RealmLayout';
import { Keytab } from './Keytab';

/** The gateway's own service. */
export const HTTP_SERVICE = `HTTP/localhost@${REALM}`;
const LDAP_SERVICE = `ldap/localhost@${REALM}`;

/**
 * Principals of the KDC that have no entry in the directory: somebody unknown
 * to it, and a service whose key the gateway does not hold.
 */
const OUTSIDERS = [`ghost@${REALM}`, `HTTP/other.example.test@${REALM}`];

/** The one kind of key: what FreeIPA prefers, and one per principal is enough. */
export const ENCRYPTION = 'aes256-cts-hmac-sha1-96:normal';

/**
 * `ktadd` looks through the whole file before it adds to it, so one file for
 * 20,000 principals takes a minute; many small ones take seconds.
 */
const KEYTAB_CHUNK = 500;

export interface KdcOptions {
  owner: ProcessOwner;
  layout: RealmLayout;
  /**
   * An empty folder, in memory where possible: kadmin waits for the disk after
   * each principal, and twenty thousand waits are minutes.
   */
  scratch: string;
  /** Full names, realm included. */
  principals: readonly string[];
}

/** Makes a KDC database with a random key for each principal, and the keytabs. */
export async function createKdc(options: KdcOptions): Promise<void> {
  const { owner, layout, scratch } = options;
  const work = realmLayout(scratch);
  const principals = [
    ...new Set([
      HTTP_SERVICE,
      LDAP_SERVICE,
      ...OUTSIDERS,
      ...options.principals,
    ]),
  ];
  const chunks = join(scratch, 'chunks');
  await mkdir(chunks);
  await mkdir(work.kdc);
  await writeFile(work.krb5Config, krb5Config(work, 0));
  await writeFile(work.kdcConfig, kdcConfig(work, 0));
  const env = kdcEnvironment(work);
  await owner.run({
    program: 'kdb5_util',
    args: ['create', '-s', '-r', REALM, '-P', randomBytes(32).toString('hex')],
    env,
  });
  await owner.run(
    { program: 'kadmin.local', args: ['-r', REALM], env },
    kadminBatch(principals, chunks, work),
  );
  await joinKeytabs(chunks, principals.length, layout.peopleKeytab);
  await copyFile(work.httpKeytab, layout.httpKeytab);
  await copyFile(work.ldapKeytab, layout.ldapKeytab);
  await cp(work.kdc, layout.kdc, { recursive: true });
}

function kadminBatch(
  principals: readonly string[],
  chunks: string,
  layout: RealmLayout,
): string {
  const lines = principals.flatMap((principal, index) => {
    const name = quote(principal);
    const chunk = join(chunks, String(Math.floor(index / KEYTAB_CHUNK)));
    return [
      `addprinc -randkey -e ${ENCRYPTION} ${name}`,
      `ktadd -norandkey -k ${chunk} ${name}`,
    ];
  });
  return `${[
    ...lines,
    `ktadd -norandkey -k ${layout.httpKeytab} ${quote(HTTP_SERVICE)}`,
    `ktadd -norandkey -k ${layout.ldapKeytab} ${quote(LDAP_SERVICE)}`,
  ].join('\n')}\n`;
}

async function joinKeytabs(
  chunks: string,
  count: number,
  target: string,
): Promise<void> {
  const files = Array.from(
    { length: Math.ceil(count / KEYTAB_CHUNK) },
    (_, index) => readFile(join(chunks, String(index))),
  );
  const keytab = Keytab.join((await Promise.all(files)).map(Keytab.parse));
  if (keytab.versions.length !== count) {
    throw new Error(
      `kadmin.local made ${keytab.versions.length} keys for ${count} principals`,
    );
  }
  await writeFile(target, keytab.toBuffer(), { mode: 0o600 });
}

/**
 * A principal as a word of kadmin: quoted, with quotes doubled (libss), and
 * with a leading dash escaped, which `ktadd` would take for an option.
 */
function quote(principal: string): string {
  const escaped = principal.replace(/^-/, '\\-');
  return `"${escaped.replaceAll('"', '""')}"`;
}

/**
 * What libkrb5 needs to find this realm and nothing else: no DNS (and no
 * search domain glued to `localhost`, MIT krb5 1.18), TCP first, and caches in
 * the realm's own folder, so that a plain `kinit` neither overwrites the
 * user's tickets nor leaves any behind.
 */
export function krb5Config(
  layout: RealmLayout,
  kdcPort: number,
  realm = REALM,
): string {
  return `[libdefaults]
  default_realm = ${realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  qualify_shortname = ""
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = 7d
  default_ccache_name = FILE:${layout.dir}/krb5cc_%{uid}
  default_rcache_name = file2:${layout.dir}/rcache_%{uid}

[realms]
  ${realm} = {
    kdc = 127.0.0.1:${kdcPort}
  }

[domain_realm]
  localhost = ${realm}
  .example.test = ${realm}
`;
}

/**
 * The KDC's own configuration; `kdcPort` is where it listens, on loopback only.
 * It keeps no account of logins: each would wait for the disk.
 */
export function kdcConfig(
  layout: RealmLayout,
  kdcPort: number,
  realm = REALM,
): string {
  return `[realms]
  ${realm} = {
    database_module = file
    key_stash_file = ${layout.kdc}/stash
    master_key_type = aes256-cts-hmac-sha1-96
    supported_enctypes = aes256-cts-hmac-sha1-96:normal
    default_principal_flags = +preauth
    max_life = 7d
    kdc_listen = 127.0.0.1:${kdcPort}
    kdc_tcp_listen = 127.0.0.1:${kdcPort}
  }

[dbmodules]
  file = {
    db_library = db2
    database_name = ${layout.kdc}/principal
    disable_last_success = true
    disable_lockout = true
  }

[logging]
  kdc = FILE:${layout.kdc}/kdc.log
`;
}

/** The environment in which the KDC and its tools read the files above. */
export function kdcEnvironment(layout: RealmLayout): Record<string, string> {
  return {
    KRB5_CONFIG: layout.krb5Config,
    KRB5_KDC_PROFILE: layout.kdcConfig,
  };
}
