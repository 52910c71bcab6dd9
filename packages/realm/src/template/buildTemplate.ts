import { randomBytes } from 'node:crypto';
import {
  chown,
  mkdir,
  readFile,
  readdir,
  rm,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { addMemberOf, importEntries } from '../directory/importEntries';
import { DATA_CONTAINERS, baseTree } from '../directory/baseTree';
import { configureInstance, removePaths } from '../directory/configureInstance';
import {
  createCertificates,
  createInstance,
} from '../directory/createInstance';
import { createKdc } from '../kerberos/createKdc';
import { type LdifEntry, normalizeDn } from '../ldif/LdifEntry';
import { generateEntries } from '../people/generateEntries';
import type { Account, ProcessOwner } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';
import type { ResolvedOptions } from '../RealmOptions';
import { parseLdif } from '../ldif/ldif';

/** Seed of the generated entries. */
const SEED = 1;

interface BuildOptions {
  owner: ProcessOwner;
  account: Account;
  /** An empty folder that the account owns. */
  layout: RealmLayout;
  /** Another empty folder, in memory where possible. */
  scratch: string;
  options: ResolvedOptions;
  onProgress: (step: string) => void;
}

/** Creates the files of a realm: instance, entries, KDC, keys. */
export async function buildTemplate(build: BuildOptions): Promise<void> {
  const { owner, account, layout, scratch, options, onProgress } = build;
  const { ldif, schema, users } = options;
  onProgress(ldif ? `reading ${ldif}` : `making ${users} people`);
  const data = await dataEntries(options);
  addMemberOf(data);
  const principals = principalsOf(data);

  onProgress('creating a directory server (first time only)');
  const rootPassword = randomBytes(18).toString('base64url');
  const portalPassword = randomBytes(18).toString('base64url');
  await writeFile(layout.rootPasswordFile, rootPassword, { mode: 0o600 });
  await writeFile(layout.portalPasswordFile, portalPassword, { mode: 0o600 });
  await mkdir(layout.tickets);
  await createInstance({ owner, account, layout, rootPassword });
  await configureInstance(layout, schema);
  await createCertificates(owner, account, layout);
  await handOver(layout, account);

  onProgress(
    `importing ${data.length} entries, making ${principals.length} keys`,
  );
  const entries = [...baseTree(schema, portalPassword), ...data];
  await Promise.all([
    importEntries({ owner, account, layout, entries }),
    createKdc({ owner, layout, scratch, principals }),
  ]);
  await removeRunFiles(layout);
  await removePaths(layout);
}

async function dataEntries(options: ResolvedOptions): Promise<LdifEntry[]> {
  return options.ldif
    ? readLdifEntries(options.ldif)
    : generateEntries({ ...options, seed: SEED });
}

/** Changes the owner of files that root has written to the account. */
async function handOver(
  { config }: RealmLayout,
  { uid, gid }: Account,
): Promise<void> {
  for (const folder of [config, join(config, 'schema')]) {
    for (const name of await readdir(folder)) {
      await chown(join(folder, name), uid, gid);
    }
  }
}

/**
 * Removes runtime files of the server: Berkeley DB's shared memory, which is
 * large and created at each start, logs, the socket and the PID file.
 */
async function removeRunFiles({ instance, logs }: RealmLayout): Promise<void> {
  const database = join(instance, 'var/lib/dirsrv/slapd-realm/db');
  const run = join(instance, 'run');
  for (const [folder, trace] of [
    [database, /^__db\./],
    [logs, /./],
    [run, /\.socket$/],
    [join(run, 'dirsrv'), /./],
  ] as const) {
    for (const name of (await readdir(folder)).filter(file =>
      trace.test(file),
    )) {
      await rm(join(folder, name));
    }
  }
}

/** Returns all principals of the entries, including aliases. */
function principalsOf(entries: readonly LdifEntry[]): string[] {
  const names = entries.flatMap(entry => entry.texts('krbPrincipalName'));
  return names.filter(
    name => name.endsWith(`@${REALM}`) && /^[\x20-\x7e]+$/.test(name),
  );
}

/**
 * Reads the users, groups, services, hosts and agreements of an LDIF file.
 *
 * @throws Error when the file has none, most likely because of its suffix
 */
async function readLdifEntries(path: string): Promise<LdifEntry[]> {
  const below = DATA_CONTAINERS.map(dn => `,${normalizeDn(dn)}`);
  const entries = parseLdif(await readFile(path, 'utf8')).filter(entry => {
    const dn = normalizeDn(entry.dn);
    return below.some(container => dn.endsWith(container));
  });
  if (entries.length === 0) {
    throw new Error(
      `${path} has no entries below ${DATA_CONTAINERS.join('; ')}`,
    );
  }
  return entries;
}
