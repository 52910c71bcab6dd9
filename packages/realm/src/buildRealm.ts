import { createHash, randomBytes } from 'node:crypto';
import {
  copyFile,
  cp,
  mkdir,
  readdir,
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
  setValue,
  type RootAccess,
} from './directory';
import { generateEntries, withoutFas } from './generateEntries';
import { createKdc } from './kdc';
import { run } from './processes';
import {
  BASE_DN,
  PACKAGE_FOLDER,
  REALM,
  realmFiles,
  type RealmFiles,
} from './realmFiles';
import { freePorts } from './Server';

/** Options that decide the files of a realm. */
export interface BuildOptions {
  readonly users: number;
  readonly ldif?: string;
  readonly schema: 'fas' | 'freeipa';
  readonly demo: boolean;
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
  const { schema, ldif, demo } = options;
  const entries = ldif ?? join(folder, 'entries.ldif');
  if (!ldif) {
    await writeFile(entries, generateEntries(options));
  }
  const principals = principalsOf(await readFile(entries, 'utf8'));
  if (principals.length === 0) {
    throw new Error(`${entries} has no Kerberos principals of ${REALM}`);
  }
  await mkdir(files.tickets);
  await createInstance(files, schema);
  await whileRunning(files, async access => {
    await ldapmodify(access, await readData('config.ldif'));
    if (schema === 'fas') {
      await ldapmodify(access, await readData('config-fas.ldif'));
    }
  });
  await Promise.all([
    importEntries(files, schema, entries),
    createKdc(files, principals),
  ]);
  if (ldif || demo) {
    await whileRunning(files, async access => {
      if (ldif) {
        await repairMemberOf(access);
      } else {
        await ldapmodify(access, await readData('demo.ldif'));
      }
    });
  }
  await removeRunFiles(files);
}

function readData(file: string): Promise<string> {
  return readFile(join(PACKAGE_FOLDER, 'data', file), 'utf8');
}

/** Returns the principals of LDIF, without the realm. */
function principalsOf(ldif: string): string[] {
  const unfolded = ldif.replaceAll(/\r?\n /g, '');
  const lines = unfolded.matchAll(/^krbPrincipalName:(:?) *(.*?)\r?$/gim);
  const suffix = `@${REALM}`;
  return [...lines]
    .map(([, base64, value]) =>
      base64 ? Buffer.from(value, 'base64').toString() : value,
    )
    .filter(name => name.endsWith(suffix) && /^[\x20-\x7e]+$/.test(name))
    .map(name => name.slice(0, -suffix.length));
}

/** Creates an empty instance with dscreate, without systemd. */
async function createInstance(
  files: RealmFiles,
  schema: BuildOptions['schema'],
): Promise<void> {
  const { folder, instance, uniqueConfig, config } = files;
  const own = basename(uniqueConfig);
  const rootPassword = await writePassword(files.rootPasswordFile);
  const [port, securePort] = await freePorts(2);
  await prepareRoot(instance, schema);
  const answers = join(folder, 'instance.inf');
  await writeFile(
    answers,
    `[general]
full_machine_name = localhost
selinux = False
start = False

[slapd]
instance_name = ${own.slice('slapd-'.length)}
port = ${port}
secure_port = ${securePort}
root_password = ${rootPassword}

[backend-userroot]
suffix = ${BASE_DN}
create_suffix_entry = False
`,
    { mode: 0o600 },
  );
  await run({
    program: 'dscreate',
    args: ['from-file', answers],
    env: { PREFIX: instance },
  });
  await copyFile(join(instance, 'etc/dirsrv/ssca/ca.crt'), files.caFile);
  await rename(join(dirname(config), own), config);
  await symlink(config, uniqueConfig);
  await editDse(files, dse => {
    const renamed = dse.replaceAll(join(dirname(config), own), config);
    // No sync to disk; cannot be changed while the server is running.
    return setValue(renamed, 'nsslapd-db-durable-transaction', 'off');
  });
}

/**
 * Prepares a root folder in which dscreate creates an instance as an ordinary
 * user, who on Debian cannot read `/etc/dirsrv`. All paths are in this folder,
 * except those of programs and libraries, and the name of the instance is only
 * in those of its configuration.
 */
async function prepareRoot(
  root: string,
  schema: BuildOptions['schema'],
): Promise<void> {
  const share = join(root, 'share/dirsrv');
  const etc = join(root, 'etc/dirsrv');
  await cp('/usr/share/dirsrv', share, { recursive: true });
  await mkdir(join(root, 'tmp'));
  await mkdir(join(etc, 'config'), { recursive: true });
  await mkdir(join(etc, 'schema'));
  await writeFile(
    join(etc, 'config/certmap.conf'),
    'certmap default default\n',
  );
  await writeFile(join(etc, 'config/slapd-collations.conf'), '');
  const schemas = [
    '60freeipa.ldif',
    ...(schema === 'fas' ? ['89fas.ldif'] : []),
  ];
  for (const file of schemas) {
    await copyFile(
      join(PACKAGE_FOLDER, 'schema', file),
      join(etc, 'schema', file),
    );
  }
  const { username } = userInfo();
  const group = (await run({ program: 'id', args: ['-gn'] })).trim();
  await edit(join(share, 'inf/defaults.inf'), text =>
    text
      .replace(/^(?!(?:bin|sbin|lib|plugin)_dir)(\w+ = )\//gm, `$1${root}/`)
      .replace(
        /^((?!config|schema|cert)\w+ = .*)\/slapd-{instance_name}/gm,
        '$1',
      )
      .replace(/^(prefix|data_dir) = .*/gm, `$1 = ${root}/share`)
      .replace(/^with_systemd = .*/m, 'with_systemd = 0')
      .replace(/^user = .*/m, `user = ${username}`)
      .replace(/^group = .*/m, `group = ${group}`),
  );
  // dscreate starts the server once, by default on all interfaces.
  await edit(join(share, 'data/template-dse.ldif'), text =>
    text.replace(/^nsslapd-port/m, 'nsslapd-listenhost: 127.0.0.1\n$&'),
  );
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
  await editDse(files, dse => setValue(dse, 'nsslapd-port', `${port}`));
  const server = directoryServer(files, port);
  await server.start();
  const { rootPasswordFile } = files;
  await action({ ldapUrl: `ldap://127.0.0.1:${port}`, rootPasswordFile });
  await server.stop();
}

/**
 * Imports the tree, and the entries of an LDIF file that are not in the tree.
 *
 * @throws Error with the server's log when it rejects an entry
 */
async function importEntries(
  files: RealmFiles,
  schema: BuildOptions['schema'],
  entries: string,
): Promise<void> {
  const file = join(files.folder, 'tree.ldif');
  const password = await writePassword(files.portalPasswordFile);
  const tree = await readData('tree.ldif');
  await writeFile(
    file,
    (schema === 'fas' ? tree : withoutFas(tree)).replace(
      '@password@',
      hashed(password),
    ),
  );
  try {
    await run({
      program: 'ns-slapd',
      args: [
        ...['ldif2db', '-D', files.config, '-n', 'userroot'],
        ...['-i', file, '-i', entries],
      ],
    });
  } catch (error) {
    const log = await readFile(join(files.logs, 'errors'), 'utf8');
    const problems = log
      .split('\n')
      .filter(line => / - (WARN|ERR) - /.test(line));
    throw new Error(`The import failed: ${problems.slice(0, 5).join('; ')}`, {
      cause: error,
    });
  }
}

/** Creates a password and writes it to a file. */
async function writePassword(file: string): Promise<string> {
  const password = randomBytes(18).toString('base64url');
  await writeFile(file, password, { mode: 0o600 });
  return password;
}

/** Hashes a password, because an import does not hash passwords. */
function hashed(password: string): string {
  const salt = randomBytes(16);
  const digest = createHash('sha512').update(password).update(salt).digest();
  return `{SSHA512}${Buffer.concat([digest, salt]).toString('base64')}`;
}

/**
 * Removes what only a running server or dscreate needs: Berkeley DB's shared
 * memory, which is large and created at each start, logs, and the name of the
 * folder in the configuration.
 */
async function removeRunFiles(files: RealmFiles): Promise<void> {
  const { folder, instance, logs, uniqueConfig } = files;
  const database = join(instance, 'var/lib/dirsrv/db');
  for (const name of await readdir(database)) {
    if (name.startsWith('__db.')) {
      await rm(join(database, name));
    }
  }
  await rm(logs, { recursive: true });
  await mkdir(logs);
  for (const name of [
    ...['entries.ldif', 'tree.ldif', 'instance.inf', 'slapd.output'],
    ...['instance/share', basename(uniqueConfig)],
  ]) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
  await editDse(files, dse => dse.replaceAll(folder, FOLDER_PLACEHOLDER));
}
