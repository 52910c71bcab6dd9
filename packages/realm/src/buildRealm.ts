import { createHash, randomBytes } from 'node:crypto';
import {
  copyFile,
  cp,
  glob,
  mkdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  directoryServer,
  editDse,
  FOLDER_PLACEHOLDER,
  ldapmodify,
  repairMemberOf,
  setValues,
  type RootAccess,
} from './directory';
import { generateEntries, withoutFas } from './generateEntries';
import { createKdc } from './kdc';
import { run } from './processes';
import {
  BASE_DN,
  PACKAGE_FOLDER,
  readData,
  REALM,
  realmFiles,
  type RealmFiles,
} from './realmFiles';
import { freePorts } from './Server';

const ACCOUNTS = `cn=accounts,${BASE_DN}`;

/** Matches a record of a user, group, service, host or agreement. */
const CONTAINED = new RegExp(
  `^dn: .*, *cn=(?:(?:users|groups|services|computers),${ACCOUNTS}|fasagreements,${BASE_DN})$`,
  'im',
);

/** Options that decide the files of a realm. */
export interface BuildOptions {
  readonly users: number;
  readonly ldif?: string;
  readonly schema: 'fas' | 'freeipa';
}

/**
 * Creates the files of a realm in an empty folder: a directory server with all
 * entries, a KDC with the keys of all principals, and passwords.
 *
 * @throws Error when a program fails, or the LDIF file cannot be imported
 */
export async function buildRealm(
  folder: string,
  options: BuildOptions,
): Promise<void> {
  const files = realmFiles(folder);
  const { schema, ldif } = options;
  const entries = ldif
    ? recordsOf(await readFile(ldif, 'utf8'))
    : generateEntries(options);
  const principals = entries.flatMap(principalsOf);
  if (principals.length === 0) {
    throw new Error(`${ldif} has no Kerberos principals below ${ACCOUNTS}`);
  }
  await mkdir(files.tickets);
  await createInstance(files, schema);
  await whileRunning(files, async access => {
    await ldapmodify(access, readData('config.ldif'));
    if (schema === 'fas') {
      await ldapmodify(access, readData('config-fas.ldif'));
    }
  });
  await Promise.all([
    importEntries(files, schema, entries),
    createKdc(files, principals),
  ]);
  if (ldif) {
    await whileRunning(files, repairMemberOf);
  }
  await prepareForCopies(files);
}

/** Returns the records of LDIF below the containers of `tree.ldif`, unfolded. */
function recordsOf(ldif: string): string[] {
  const unfolded = ldif.replaceAll('\r', '').replaceAll('\n ', '');
  return unfolded
    .split(/\n{2,}/)
    .filter(record => CONTAINED.test(record))
    .map(record => `${record}\n\n`);
}

/** Returns the principals of an unfolded record, without the realm. */
function principalsOf(record: string): string[] {
  const suffix = `@${REALM}`;
  return [...record.matchAll(/^krbPrincipalName:(:?) *(.*)$/gim)]
    .map(([, base64, value]) =>
      base64 ? Buffer.from(value, 'base64').toString() : value,
    )
    .filter(name => name.endsWith(suffix) && /^[ -~]+$/.test(name))
    .map(name => name.slice(0, -suffix.length));
}

/**
 * Creates an empty instance with dscreate, as an ordinary user, who on Debian
 * cannot read `/etc/dirsrv`, and without systemd. All paths are in the realm's
 * folder, except those of programs and libraries.
 */
async function createInstance(
  files: RealmFiles,
  schema: BuildOptions['schema'],
): Promise<void> {
  const { dir, instance, uniqueConfig, config } = files;
  const etc = dirname(config);
  const share = join(instance, 'share/dirsrv');
  await cp('/usr/share/dirsrv', share, { recursive: true });
  await cp(join(PACKAGE_FOLDER, 'schema'), join(etc, 'schema'), {
    recursive: true,
    filter: path => schema === 'fas' || !path.endsWith('89fas.ldif'),
  });
  await mkdir(join(etc, 'config'));
  await writeFile(
    join(etc, 'config/certmap.conf'),
    'certmap default default\n',
  );
  await writeFile(join(etc, 'config/slapd-collations.conf'), '');
  const group = (await run({ program: 'id', args: ['-gn'] })).trim();
  await edit(join(share, 'inf/defaults.inf'), text =>
    text
      .replace(/^(?!(?:bin|sbin|lib|plugin)_dir)(\w+ = )\//gm, `$1${instance}/`)
      // The name of the instance is only in paths of its configuration.
      .replace(/^((?!config|schema|cert).*)\/slapd-{instance_name}/gm, '$1')
      .replace(/^(prefix|data_dir) = .*/gm, `$1 = ${instance}/share`)
      .replace(/^with_systemd = .*/m, 'with_systemd = 0')
      .replace(/^user = .*/m, `user = ${userInfo().username}`)
      .replace(/^group = .*/m, `group = ${group}`),
  );
  // dscreate starts the server once, by default on all interfaces.
  await edit(join(share, 'data/template-dse.ldif'), text =>
    text.replace(/^nsslapd-port/m, 'nsslapd-listenhost: 127.0.0.1\n$&'),
  );
  const [port, securePort] = await freePorts(2);
  const password = await writePassword(files.rootPasswordFile);
  const name = basename(dir);
  const inf = join(dir, 'instance.inf');
  const answers = { name, port, securePort, password };
  await writeFile(inf, readData('instance.inf', answers), { mode: 0o600 });
  const env = { PREFIX: instance };
  await run({ program: 'dscreate', args: ['from-file', inf], env });
  await copyFile(join(etc, 'ssca/ca.crt'), files.caFile);
  await rename(join(etc, `slapd-${name}`), config);
  await symlink(config, uniqueConfig);
  await editDse(files, dse => {
    const renamed = dse.replaceAll(join(etc, `slapd-${name}`), config);
    // No sync to disk; cannot be changed while the server is running.
    return setValues(renamed, { 'nsslapd-db-durable-transaction': 'off' });
  });
}

async function edit(
  path: string,
  change: (text: string) => string,
): Promise<void> {
  await writeFile(path, change(await readFile(path, 'utf8')));
}

/** Runs the server of a new instance during an action. */
async function whileRunning(
  files: RealmFiles,
  action: (access: RootAccess) => Promise<void>,
): Promise<void> {
  const [port] = await freePorts(1);
  await editDse(files, dse => setValues(dse, { 'nsslapd-port': port }));
  const server = directoryServer(files, port);
  await server.start();
  await action({ ldapUrl: `ldap://localhost:${port}`, ...files });
  await server.stop();
}

/**
 * Imports the tree and the entries.
 *
 * @throws Error with the server's log when it rejects an entry
 */
async function importEntries(
  files: RealmFiles,
  schema: BuildOptions['schema'],
  entries: readonly string[],
): Promise<void> {
  const file = join(files.dir, 'import.ldif');
  const password = hash(await writePassword(files.bindPasswordFile));
  const tree = `${readData('tree.ldif', { password })}\n`;
  const records = [schema === 'fas' ? tree : withoutFas(tree), ...entries];
  await writeFile(file, records);
  try {
    const args = ['-D', files.config, '-n', 'userroot', '-i', file];
    await run({ program: 'ns-slapd', args: ['ldif2db', ...args] });
  } catch (error) {
    const log = await readFile(files.errorLog, 'utf8');
    const problems = log.split('\n').filter(line => / (WARN|ERR) /.test(line));
    throw new Error(problems.slice(0, 5).join('; '), { cause: error });
  }
}

/** Creates a password and writes it to a file. */
async function writePassword(file: string): Promise<string> {
  const password = randomBytes(18).toString('base64url');
  await writeFile(file, password, { mode: 0o600 });
  return password;
}

/** Hashes a password, because an import does not hash passwords. */
function hash(password: string): string {
  const salt = randomBytes(16);
  const digest = createHash('sha512').update(password).update(salt).digest();
  return `{SSHA512}${Buffer.concat([digest, salt]).toString('base64')}`;
}

/**
 * Removes what copies do not need, such as Berkeley DB's shared memory, which is
 * large and created at each start, and the folder from the configuration.
 */
async function prepareForCopies(files: RealmFiles): Promise<void> {
  const { dir } = files;
  for await (const name of glob(
    [
      ...['*.inf', '*.ldif', '*.output', 'slapd-*', 'instance/share'],
      ...['instance/var/lib/dirsrv/db/__db.*', 'instance/var/log/dirsrv/*'],
    ],
    { cwd: dir },
  )) {
    await rm(join(dir, name), { recursive: true, force: true });
  }
  await editDse(files, dse => dse.replaceAll(dir, FOLDER_PLACEHOLDER));
}
