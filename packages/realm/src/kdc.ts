import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder, removeFolder, run } from './processes';
import { REALM, realmFiles, type RealmFiles } from './realmFiles';
import { Server } from './Server';

/** The gateway's service. */
export const HTTP_SERVICE = 'HTTP/localhost';
const LDAP_SERVICE = 'ldap/localhost';

/**
 * Principals without an entry in the directory: a user, and a service whose key
 * the gateway does not have.
 */
const OUTSIDERS = ['ghost', 'HTTP/other.example.test'];

/** Type of all keys; FreeIPA prefers it. */
export const ENCRYPTION = 'aes256-cts-hmac-sha1-96:normal';

/**
 * Maximum number of principals per keytab: `ktadd` searches the whole file
 * before it adds a key, so that one file for 20,000 principals takes a minute,
 * and many small ones take seconds.
 */
const KEYTAB_CHUNK = 500;

/** Length of the header of a keytab (MIT krb5, `keytab_file_format.rst`). */
const KEYTAB_HEADER = 2;

/**
 * Creates the KDC database of a realm with a random key for each principal, and
 * the keytabs.
 *
 * @param principals - names without the realm, of printable ASCII characters
 */
export async function createKdc(
  files: RealmFiles,
  principals: readonly string[],
): Promise<void> {
  const all = [
    ...new Set([HTTP_SERVICE, LDAP_SERVICE, ...OUTSIDERS, ...principals]),
  ];
  // In memory, because kadmin waits for the disk after each principal.
  const folder = await createFolder('realm-kdc-', '/dev/shm');
  const chunkOf = (index: number) =>
    join(folder, `${Math.floor(index / KEYTAB_CHUNK)}.keytab`);
  try {
    const memory = realmFiles(folder);
    await createDatabase(memory, REALM, [
      ...all.flatMap((name, index) => addPrincipal(name, chunkOf(index))),
      `ktadd -norandkey -k ${files.httpKeytab} ${HTTP_SERVICE}`,
      `ktadd -norandkey -k ${files.ldapKeytab} ${LDAP_SERVICE}`,
    ]);
    const chunks = new Set(all.map((_, index) => chunkOf(index)));
    await joinKeytabs([...chunks], files.peopleKeytab);
    await cp(memory.kdc, files.kdc, { recursive: true });
  } finally {
    await removeFolder(folder);
  }
}

/** Returns the commands of kadmin that create a principal with a random key. */
export function addPrincipal(name: string, keytab: string): string[] {
  // A leading dash starts an option; quotes are doubled (libss).
  const escaped = name.replace(/^-/, '\\-').replaceAll('"', '""');
  return [
    `addprinc -randkey -e ${ENCRYPTION} "${escaped}"`,
    `ktadd -norandkey -k ${keytab} "${escaped}"`,
  ];
}

/**
 * Creates an empty database, and runs commands of kadmin.
 *
 * @throws Error with its messages when a command fails
 */
export async function createDatabase(
  files: RealmFiles,
  realm: string,
  commands: readonly string[],
): Promise<void> {
  const env = kdcEnvironment(files);
  await mkdir(files.kdc);
  await writeKdcConfig(files, realm, 0);
  const password = randomBytes(32).toString('hex');
  await run({
    program: 'kdb5_util',
    args: ['create', '-s', '-r', realm, '-P', password],
    env,
  });
  await run(
    { program: 'kadmin.local', args: ['-r', realm], env },
    `${commands.join('\n')}\n`,
  );
}

/** Joins keytabs, which are records after a header. */
export async function joinKeytabs(
  paths: readonly string[],
  target: string,
): Promise<void> {
  const keytabs = await Promise.all(paths.map(path => readFile(path)));
  const content = keytabs.map((keytab, index) =>
    index === 0 ? keytab : keytab.subarray(KEYTAB_HEADER),
  );
  await writeFile(target, Buffer.concat(content), { mode: 0o600 });
}

/** Returns a KDC with the database and the configuration in its folder. */
export function kdcServer(
  files: RealmFiles,
  realm: string,
  port: number,
): Server {
  return new Server({
    program: 'krb5kdc',
    // The name of the file shows the supervisor whose process it is.
    args: ['-n', '-r', realm, '-P', join(files.folder, 'kdc.pid')],
    env: kdcEnvironment(files),
    port,
    log: join(files.folder, 'kdc.output'),
  });
}

/** Returns the environment of the KDC and its tools. */
export function kdcEnvironment(files: RealmFiles): Record<string, string> {
  return {
    KRB5_CONFIG: files.krb5Config,
    KRB5_KDC_PROFILE: files.kdcConfig,
  };
}

/**
 * Writes the configuration of libkrb5 and of the KDC.
 *
 * libkrb5 uses this realm only: no DNS (nor a search domain after `localhost`,
 * MIT krb5 1.18), TCP first, and caches in the realm's folder, so that a plain
 * `kinit` does not overwrite the user's tickets. The KDC does not record logins,
 * because each record waits for the disk.
 */
export async function writeKdcConfig(
  { folder, kdc, krb5Config, kdcConfig }: RealmFiles,
  realm: string,
  port: number,
): Promise<void> {
  await writeFile(
    krb5Config,
    `[libdefaults]
  default_realm = ${realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  qualify_shortname = ""
  rdns = false
  udp_preference_limit = 1
  ticket_lifetime = 7d
  default_ccache_name = FILE:${folder}/krb5cc_%{uid}
  default_rcache_name = file2:${folder}/rcache_%{uid}

[realms]
  ${realm} = {
    kdc = 127.0.0.1:${port}
  }

[domain_realm]
  localhost = ${realm}
  .example.test = ${realm}
`,
  );
  await writeFile(
    kdcConfig,
    `[realms]
  ${realm} = {
    database_module = file
    key_stash_file = ${kdc}/stash
    master_key_type = aes256-cts-hmac-sha1-96
    supported_enctypes = aes256-cts-hmac-sha1-96:normal
    default_principal_flags = +preauth
    max_life = 7d
    kdc_listen = 127.0.0.1:${port}
    kdc_tcp_listen = 127.0.0.1:${port}
  }

[dbmodules]
  file = {
    db_library = db2
    database_name = ${kdc}/principal
    disable_last_success = true
    disable_lockout = true
  }

[logging]
  kdc = FILE:${kdc}/kdc.log
`,
  );
}
