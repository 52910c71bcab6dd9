import {
  access,
  copyFile,
  cp,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Account, ProcessOwner } from '../processes/ProcessOwner';
import { freePorts } from '../processes/ports';
import { BASE_DN, REALM, type RealmLayout } from '../RealmLayout';
import { editDse, replaceText } from './configureInstance';
import { withErrorLog } from './importEntries';
import { randomBytes } from 'node:crypto';

interface InstanceOptions {
  owner: ProcessOwner;
  account: Account;
  layout: RealmLayout;
  rootPassword: string;
}

/**
 * Creates an empty instance in `layout.instance` with dscreate, as an ordinary
 * user and without systemd. Its ports are temporary.
 */
export async function createInstance(options: InstanceOptions): Promise<void> {
  const { owner, account, layout } = options;
  const answers = join(layout.dir, 'instance.inf');
  await writeFile(answers, await answerFile(options), { mode: 0o600 });
  const env = await prepareInstanceRoot(layout, account);
  if (account.drop) {
    const args = ['-R', `${account.uid}:${account.gid}`, layout.dir];
    await owner.run({ program: 'chown', args });
  }
  await withErrorLog('Creating a directory server', layout, () =>
    owner.run({
      program: 'dscreate',
      args: ['from-file', answers],
      account,
      cwd: layout.dir,
      env,
    }),
  );
  await rm(answers);
  await rm(join(layout.instance, 'share'), { recursive: true });
  await giveCommonName(layout);
}

async function answerFile(options: InstanceOptions): Promise<string> {
  const { account, layout, rootPassword } = options;
  const [port, securePort] = await freePorts(2);
  return `[general]
config_version = 2
full_machine_name = localhost
strict_host_checking = False
systemd = False
selinux = False
start = False

[slapd]
instance_name = ${basename(layout.dir)}
port = ${port}
secure_port = ${securePort}
self_sign_cert = False
user = ${account.name}
group = ${account.group}
root_password = ${rootPassword}

[backend-userroot]
suffix = ${BASE_DN}
create_suffix_entry = False
`;
}

/**
 * Renames the folders of the instance, whose name was unique while dscreate
 * started its server (see `ownConfig`).
 */
async function giveCommonName(layout: RealmLayout): Promise<void> {
  const { instance } = layout;
  const own = basename(layout.ownConfig);
  for (const path of await readdir(instance, { recursive: true })) {
    if (basename(path) === own) {
      const folder = join(instance, path);
      await rename(folder, join(dirname(folder), 'slapd-realm'));
    }
  }
  await editDse(layout, entries =>
    entries.map(entry => replaceText(entry, own, 'slapd-realm')),
  );
}

const INSTALLED_DATA = '/usr/share/dirsrv';
const INSTALLED_CONFIG = '/etc/dirsrv';

/**
 * Files of a new instance, and their content when the installed file cannot be
 * read: on Debian, only the account `dirsrv` can read `/etc/dirsrv`.
 */
const SEEDS: Readonly<Record<string, string>> = {
  'config/certmap.conf': 'certmap default default\n',
  'config/slapd-collations.conf': '',
  'schema/99user.ldif':
    'dn: cn=schema\nobjectClass: top\nobjectClass: subschema\n',
};

/**
 * Prepares a root folder in which dscreate creates an instance as an ordinary
 * user, like `dscreate ds-root`, which needs to read `/etc/dirsrv`
 * (lib389/cli_ctl/instance.py, prepare_ds_root).
 *
 * @returns the environment of dscreate with this root
 */
async function prepareInstanceRoot(
  { instance }: RealmLayout,
  account: Account,
): Promise<Record<string, string>> {
  await cp(INSTALLED_DATA, join(instance, 'share/dirsrv'), { recursive: true });
  await mkdir(join(instance, 'tmp'), { recursive: true });
  for (const [name, fallback] of Object.entries(SEEDS)) {
    const seed = join(instance, 'etc/dirsrv', name);
    await mkdir(join(seed, '..'), { recursive: true });
    await copyOrWrite(join(INSTALLED_CONFIG, name), seed, fallback);
  }
  const share = join(instance, 'share/dirsrv');
  await edit(join(share, 'inf/defaults.inf'), text =>
    movedDefaults(text, instance, account),
  );
  await edit(join(share, 'data/template-dse.ldif'), listenOnLoopback);
  return { PREFIX: instance, INSTALL_PREFIX: instance };
}

/**
 * Moves all paths except those of programs and libraries to the root folder.
 */
function movedDefaults(text: string, root: string, account: Account): string {
  let moved = text.replace(
    /^(?!(?:bin|sbin|lib|plugin)_dir)(\w+ = )\//gm,
    `$1${root}/`,
  );
  for (const [key, value] of [
    ['with_selinux', 'no'],
    ['with_systemd', '0'],
    ['user', account.name],
    ['group', account.group],
    ['prefix', root],
    ['data_dir', join(root, 'share')],
  ]) {
    moved = moved.replace(
      new RegExp(`^${key} = .*$`, 'm'),
      `${key} = ${value}`,
    );
  }
  return moved;
}

/** dscreate starts the server once, by default on all interfaces. */
function listenOnLoopback(template: string): string {
  return template.replace(
    /^nsslapd-port: /m,
    'nsslapd-listenhost: 127.0.0.1\nnsslapd-port: ',
  );
}

async function copyOrWrite(
  source: string,
  target: string,
  fallback: string,
): Promise<void> {
  try {
    await access(source);
  } catch {
    await writeFile(target, fallback);
    return;
  }
  await copyFile(source, target);
}

/** @throws Error when nothing changes, in an unsupported version */
async function edit(
  path: string,
  change: (text: string) => string,
): Promise<void> {
  const text = await readFile(path, 'utf8');
  const changed = change(text);
  if (changed === text) {
    throw new Error(
      `${path} is not as expected; this version of 389-ds is not supported`,
    );
  }
  await writeFile(path, changed);
}

const NEW_KEY = [
  ...['req', '-x509', '-days', '3650', '-nodes'],
  ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
];

const TEMPORARY = [
  'openssl.cnf',
  'ca.key',
  'ldaps.key',
  'ldaps.pem',
  'ldaps.p12',
];

/**
 * Complete configuration, because OpenSSL's default file differs between
 * systems.
 */
const CONFIGURATION = `[req]
distinguished_name = names
[names]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:localhost, IP:127.0.0.1
`;

/**
 * Creates a CA and its certificate for LDAPS (`localhost`, `127.0.0.1`), stores
 * both in the instance's NSS database, and the CA certificate in
 * `layout.caFile`. The key of the CA is deleted.
 */
export async function createCertificates(
  owner: ProcessOwner,
  account: Account,
  layout: RealmLayout,
): Promise<void> {
  const file = (name: string) => join(layout.dir, name);
  const password = randomBytes(24).toString('hex');
  const openssl = (...args: string[]) =>
    owner.run({ account, cwd: layout.dir, program: 'openssl', args });
  await writeFile(file('openssl.cnf'), CONFIGURATION);
  await openssl(
    ...NEW_KEY,
    ...['-config', file('openssl.cnf'), '-extensions', 'authority'],
    ...['-subj', `/O=${REALM}/CN=Certificate Authority`],
    ...['-keyout', file('ca.key'), '-out', layout.caFile],
  );
  await openssl(
    ...NEW_KEY,
    ...['-CA', layout.caFile, '-CAkey', file('ca.key')],
    ...['-config', file('openssl.cnf'), '-extensions', 'server'],
    ...['-subj', `/O=${REALM}/CN=localhost`],
    ...['-keyout', file('ldaps.key'), '-out', file('ldaps.pem')],
  );
  await openssl(
    ...['pkcs12', '-export', '-name', 'Server-Cert'],
    ...['-in', file('ldaps.pem'), '-inkey', file('ldaps.key')],
    ...['-out', file('ldaps.p12'), '-passout', `pass:${password}`],
  );
  await intoNssDatabase(owner, account, layout, password);
  for (const name of TEMPORARY) {
    await rm(file(name));
  }
}

async function intoNssDatabase(
  owner: ProcessOwner,
  account: Account,
  { dir, config, caFile }: RealmLayout,
  password: string,
): Promise<void> {
  const pin = join(config, 'pwdfile.txt');
  const database = ['-d', config, '-f', pin];
  await owner.run({
    account,
    program: 'certutil',
    args: ['-A', ...database, '-n', 'CA', '-t', 'CT,,', '-a', '-i', caFile],
  });
  await owner.run({
    account,
    program: 'pk12util',
    args: [
      ...['-i', join(dir, 'ldaps.p12'), '-W', password],
      ...['-d', config, '-k', pin],
    ],
  });
}
