import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessOwner } from '../processes/ProcessOwner';
import { REALM, type RealmLayout, realmLayout } from '../RealmLayout';

/** The gateway's service. */
export const HTTP_SERVICE = `HTTP/localhost@${REALM}`;
const LDAP_SERVICE = `ldap/localhost@${REALM}`;

/**
 * Principals without an entry in the directory: a user, and a service whose key
 * the gateway does not have.
 */
const OUTSIDERS = [`ghost@${REALM}`, `HTTP/other.example.test@${REALM}`];

/** Type of all keys; FreeIPA prefers it. */
export const ENCRYPTION = 'aes256-cts-hmac-sha1-96:normal';

/**
 * Maximum number of principals per keytab: `ktadd` searches the whole file
 * before it adds a key, so that one file for 20,000 principals takes a minute,
 * and many small ones take seconds.
 */
const KEYTAB_CHUNK = 500;

/** Header of a keytab, version 2 (MIT krb5, `keytab_file_format.rst`). */
const KEYTAB_HEADER = Buffer.from([0x05, 0x02]);

/** Creates a KDC database with a random key for each principal, and keytabs. */
export async function createKdc(options: {
  owner: ProcessOwner;
  layout: RealmLayout;
  /**
   * An empty folder, in memory where possible: kadmin waits for the disk after
   * each principal.
   */
  scratch: string;
  /** Full names, with the realm. */
  principals: readonly string[];
}): Promise<void> {
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
  const chunkOf = (index: number) =>
    join(chunks, String(Math.floor(index / KEYTAB_CHUNK)));
  const commands = principals
    .map(quote)
    .flatMap((name, index) => [
      `addprinc -randkey -e ${ENCRYPTION} ${name}`,
      `ktadd -norandkey -k ${chunkOf(index)} ${name}`,
    ]);
  await createDatabase(owner, work, [
    ...commands,
    `ktadd -norandkey -k ${layout.httpKeytab} ${quote(HTTP_SERVICE)}`,
    `ktadd -norandkey -k ${layout.ldapKeytab} ${quote(LDAP_SERVICE)}`,
  ]);
  const files = new Set(principals.map((_, index) => chunkOf(index)));
  const keytab = await joinKeytabs([...files]);
  const keys = countKeys(keytab);
  if (keys !== principals.length) {
    throw new Error(
      `kadmin.local created ${keys} keys for ${principals.length} principals`,
    );
  }
  await writeFile(layout.peopleKeytab, keytab, { mode: 0o600 });
  await cp(work.kdc, layout.kdc, { recursive: true });
}

/** Creates the configuration and the database of a KDC, and runs kadmin. */
export async function createDatabase(
  owner: ProcessOwner,
  layout: RealmLayout,
  commands: readonly string[],
  { realm = REALM, kdcPort = 0 } = {},
): Promise<void> {
  const env = kdcEnvironment(layout);
  await mkdir(layout.kdc);
  await writeFile(layout.krb5Config, krb5Config(layout, kdcPort, realm));
  await writeFile(layout.kdcConfig, kdcConfig(layout, kdcPort, realm));
  await owner.run({
    program: 'kdb5_util',
    args: ['create', '-s', '-r', realm, '-P', randomBytes(32).toString('hex')],
    env,
  });
  await owner.run(
    { program: 'kadmin.local', args: ['-r', realm], env },
    `${commands.join('\n')}\n`,
  );
}

/** Joins keytabs, which are records after a header. */
export async function joinKeytabs(paths: readonly string[]): Promise<Buffer> {
  const files = await Promise.all(paths.map(path => readFile(path)));
  const records = files.map(file => file.subarray(KEYTAB_HEADER.length));
  return Buffer.concat([KEYTAB_HEADER, ...records]);
}

/** Counts records; the size of a deleted one is negative. */
function countKeys(keytab: Buffer): number {
  let count = 0;
  let offset = KEYTAB_HEADER.length;
  while (offset + 4 <= keytab.length) {
    const size = keytab.readInt32BE(offset);
    count += Number(size > 0);
    offset += 4 + Math.abs(size);
  }
  return count;
}

/**
 * Quotes a principal for kadmin: quotes are doubled (libss), and a leading
 * dash, which would start an option of `ktadd`, is escaped.
 */
function quote(principal: string): string {
  const escaped = principal.replace(/^-/, '\\-');
  return `"${escaped.replaceAll('"', '""')}"`;
}

/**
 * Configuration of libkrb5 for this realm only: no DNS (nor a search domain
 * after `localhost`, MIT krb5 1.18), TCP first, and caches in the realm's
 * folder, so that a plain `kinit` does not overwrite the user's tickets.
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
 * Configuration of the KDC, which listens on the loopback interface. It does
 * not record logins, because each record waits for the disk.
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

/** Environment of the KDC and its tools. */
export function kdcEnvironment(layout: RealmLayout): Record<string, string> {
  return {
    KRB5_CONFIG: layout.krb5Config,
    KRB5_KDC_PROFILE: layout.kdcConfig,
  };
}
