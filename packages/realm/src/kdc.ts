import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder, removeFolder, run } from './processes';
import { readData, REALM, realmFiles, type RealmFiles } from './realmFiles';
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
  const names = [
    ...new Set([HTTP_SERVICE, LDAP_SERVICE, ...OUTSIDERS, ...principals]),
  ];
  // In memory, because kadmin waits for the disk after each principal.
  const folder = await createFolder('realm-kdc-', '/dev/shm');
  const chunkOf = (index: number) =>
    join(folder, `${Math.floor(index / KEYTAB_CHUNK)}.keytab`);
  try {
    await createDatabase(realmFiles(folder), REALM, [
      ...names.flatMap((name, index) => addPrincipal(name, chunkOf(index))),
      `ktadd -norandkey -k ${files.keytab} ${HTTP_SERVICE}`,
      `ktadd -norandkey -k ${files.ldapKeytab} ${LDAP_SERVICE}`,
    ]);
    const chunks = new Set(names.map((_, index) => chunkOf(index)));
    await joinKeytabs([...chunks], files.peopleKeytab);
    await cp(realmFiles(folder).kdc, files.kdc, { recursive: true });
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

/** Creates an empty database, and runs commands of kadmin. */
export async function createDatabase(
  files: RealmFiles,
  realm: string,
  commands: readonly string[],
): Promise<void> {
  await mkdir(files.kdc);
  await writeKdcConfig(files, realm, 0);
  const env = kdcEnvironment(files);
  const password = randomBytes(32).toString('hex');
  const args = ['create', '-s', '-r', realm, '-P', password];
  await run({ program: 'kdb5_util', args, env });
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
  const [first, ...others] = await Promise.all(
    paths.map(path => readFile(path)),
  );
  const records = others.map(keytab => keytab.subarray(KEYTAB_HEADER));
  await writeFile(target, Buffer.concat([first, ...records]), { mode: 0o600 });
}

/** Writes the configuration of libkrb5 and of the KDC. */
export async function writeKdcConfig(
  { dir, krb5Config, kdcConfig }: RealmFiles,
  realm: string,
  port: number,
): Promise<void> {
  const values = { folder: dir, realm, port };
  await writeFile(krb5Config, readData('krb5.conf', values));
  await writeFile(kdcConfig, readData('kdc.conf', values));
}

/** Returns the KDC of a realm. */
export function kdcServer(
  files: RealmFiles,
  realm: string,
  port: number,
): Server {
  return new Server({
    program: 'krb5kdc',
    args: ['-n', '-r', realm],
    env: kdcEnvironment(files),
    port,
    log: join(files.dir, 'kdc.output'),
  });
}

/** Returns the environment of the KDC and its tools. */
export function kdcEnvironment(files: RealmFiles): Record<string, string> {
  return {
    KRB5_CONFIG: files.krb5Config,
    KRB5_KDC_PROFILE: files.kdcConfig,
  };
}
