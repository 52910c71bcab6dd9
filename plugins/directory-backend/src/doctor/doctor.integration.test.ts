import type { JsonObject, JsonValue } from '@backstage/types';
import {
  freePorts,
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import { signingKeyOf, writePem } from '@directory-gateway/x509';
import { createCaCertificate } from '@directory-gateway/x509/testUtils';
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
} from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  startTlsFront,
  TestAuthority,
} from '@directory-gateway/ldap/testUtils';
import { RECORDS } from '../certificates/records/CertificateRecords';
import { diagnose } from './main';
import { type CheckResult, formatResults } from './runChecks';

jest.setTimeout(600_000);

const run = promisify(execFile);
const REPOSITORY = resolve(__dirname, '../../../..');
const SCOPE = '@directory-gateway';
const PLUGIN = `${SCOPE}/backstage-plugin-directory-backend`;
const PACKAGES = {
  plugin: PLUGIN,
  embedded: `${PLUGIN}-module-embedded-ca`,
  freeipa: `${PLUGIN}-module-freeipa-ca`,
  policy: `${SCOPE}/backstage-plugin-permission-backend-module-directory`,
  signIn: `${SCOPE}/backstage-plugin-auth-backend-module-kerberos-provider`,
  router: `${SCOPE}/root-http-router`,
  allowAll: '@backstage/plugin-permission-backend-module-allow-all-policy',
};
type PackageName = keyof typeof PACKAGES;
const INSTALLED: readonly PackageName[] = [
  ...(['plugin', 'embedded', 'freeipa', 'policy', 'signIn', 'router'] as const),
];

/** No server listens there. */
const UNUSED_URL = 'http://localhost:9';

/** Backstage's name for the database of the `directory` plugin. */
const DATABASE = 'backstage_plugin_directory';

/** A change to the healthy portal. */
interface Change {
  /** Values by the path of their keys; `undefined` removes a key. */
  readonly config?: Readonly<Record<string, JsonValue | undefined>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly packages?: readonly PackageName[];
  /** Set for servers that never respond. Default: {@link PATIENT_MS}. */
  readonly deadlineMs?: number;
  readonly undo?: () => unknown;
}

/** Enough on a busy machine. */
const PATIENT_MS = 120_000;
/** Enough for all servers that respond. */
const IMPATIENT_MS = 40_000;

let realm: Realm;
let postgres: PostgresServer;
let authority: TestAuthority;
let folder: string;
let sessionKey: string;
let caKey: string;
/** Everything that the doctor printed. */
let printed = '';

const path = (name: string) => join(folder, name);

async function write(name: string, text: string | Buffer, mode = 0o600) {
  await writeFile(path(name), text, { mode });
  return path(name);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
  [realm, postgres, authority] = await Promise.all([
    startRealm(),
    PostgresServer.start(),
    TestAuthority.create(),
  ]);
  const admin = postgres.connect('postgres');
  await admin.raw(`create database ${DATABASE}`);
  await admin.destroy();
  await setAci('cn=deleted users,cn=accounts,cn=provisioning', 'add', {
    attributes: 'objectclass || uid',
    rule: 'allow (read, search, compare) userdn = "ldap:///all"',
  });
  sessionKey = randomBytes(32).toString('base64');
  await write('session-key', sessionKey);
  const ca = await newCa();
  caKey = ca.key;
  await write('ca-key.pem', ca.key);
  await write('ca.pem', ca.chain);
  await symlink(join(REPOSITORY, 'node_modules'), path('node_modules'));
  await mkdir(path('src'));
});
afterAll(async () => {
  await Promise.all([realm?.stop(), postgres?.stop(), authority?.remove()]);
  await rm(folder, { recursive: true, force: true });
});

async function newCa(days = 365) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const day = 24 * 60 * 60 * 1000;
  const certificate = await createCaCertificate({
    subject: [{ type: 'CN', value: 'Doctor CA' }],
    key: signingKeyOf(privateKey),
    notBefore: new Date(Date.now() - 2 * day),
    notAfter: new Date(Date.now() + days * day),
  });
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    chain: writePem('CERTIFICATE', certificate),
  };
}

function healthyConfig(): JsonObject {
  return {
    app: { baseUrl: UNUSED_URL },
    backend: {
      baseUrl: UNUSED_URL,
      database: { client: 'pg', connection: postgres.connection(DATABASE) },
    },
    auth: {
      providers: {
        kerberos: { signIn: { resolvers: [{ resolver: 'directoryUser' }] } },
      },
    },
    permission: {
      enabled: true,
      directory: { administrators: ['user:default/root'] },
    },
    kerberos: { keytab: realm.keytab },
    directory: {
      ldap: {
        servers: [realm.ldapsUrl],
        caFile: realm.caFile,
        baseDn: realm.baseDn,
        bindDn: realm.bindDn,
        bindPasswordFile: realm.bindPasswordFile,
      },
      sessions: { keys: [{ secretFile: path('session-key') }] },
      certificates: {
        authority: 'embedded',
        embedded: {
          organization: 'Example',
          issuers: [{ keyFile: path('ca-key.pem'), chainFile: path('ca.pem') }],
        },
      },
    },
  };
}

function set(target: JsonObject, key: string, value: JsonValue | undefined) {
  const [first, ...rest] = key.split('.');
  if (rest.length === 0) {
    target[first] = value;
  } else {
    target[first] ??= {};
    set(target[first] as JsonObject, rest.join('.'), value);
  }
}

/** Writes a portal's configuration and backend, and returns options for them. */
async function writePortal({ config = {}, env, packages }: Change) {
  const values = healthyConfig();
  for (const [key, value] of Object.entries(config)) {
    set(values, key, value);
  }
  const file = await write('app-config.json', JSON.stringify(values));
  const names = (packages ?? INSTALLED).map(name => PACKAGES[name]);
  await write(
    'package.json',
    JSON.stringify({
      dependencies: Object.fromEntries(names.map(name => [name, '*'])),
    }),
  );
  await write(
    'src/index.ts',
    names.map(name => `backend.add(import('${name}'));\n`).join(''),
  );
  return {
    configFiles: [file],
    env: { ...process.env, KRB5_CONFIG: realm.krb5Config, ...env },
    folder,
  };
}

async function diagnosePortal(
  change: Change = {},
): Promise<readonly CheckResult[]> {
  const { deadlineMs = PATIENT_MS } = change;
  const portal = await writePortal(change);
  const results = await diagnose({ ...portal, deadlineMs });
  printed += formatResults(results) + JSON.stringify(results);
  return results;
}

const problemsOf = (results: readonly CheckResult[]) =>
  results.filter(({ status }) => status === 'warn' || status === 'fail');

function modify(dn: string, change: string) {
  return realm.modify(`dn: ${dn}\nchangetype: modify\n${change}\n`);
}

/** Adds or deletes an access control instruction. */
async function setAci(
  container: string,
  operation: 'add' | 'delete',
  { attributes, rule }: { attributes: string; rule: string },
) {
  await modify(
    `${container},${realm.baseDn}`,
    `${operation}: aci\naci: (targetattr = "${attributes}")(version 3.0; acl "doctor"; ${rule};)`,
  );
}

/** Hides attributes from the service account, as if its ACI were removed. */
async function hide(container: string, attributes: string): Promise<Change> {
  const aci = {
    attributes,
    rule: `deny (read, search, compare) userdn = "ldap:///${realm.bindDn}"`,
  };
  await setAci(container, 'add', aci);
  return { undo: () => setAci(container, 'delete', aci) };
}

/** Serves the directory with another certificate. */
async function withCertificate(
  host: string,
  days: number,
  caFile = authority.caFile,
): Promise<Change> {
  const certificate = await authority.issue({ host, days });
  const front = await startTlsFront(certificate, realm.ldapUrl);
  return {
    config: {
      'directory.ldap.servers': [front.url],
      'directory.ldap.caFile': caFile,
    },
    undo: () => front.stop(),
  };
}

async function kadmin(...query: readonly string[]) {
  const env = {
    ...process.env,
    PATH: `${process.env.PATH}:/usr/sbin`,
    KRB5_CONFIG: realm.krb5Config,
    KRB5_KDC_PROFILE: join(realm.dir, 'kdc.conf'),
  };
  await run('kadmin.local', ['-r', realm.realm, ...query], { env });
}

/** Replaces the key of the service by one with a higher version. */
async function renewServiceKey(kvno: number) {
  await kadmin('cpw', '-randkey', 'HTTP/localhost');
  await kadmin('modprinc', '-kvno', String(kvno), 'HTTP/localhost');
  await realm.rotateServiceKey();
}

/** Changes the KDC's configuration of this machine. */
async function withKrb5Config(edit: (text: string) => string): Promise<Change> {
  const text = edit(await readFile(realm.krb5Config, 'utf8'));
  return { env: { KRB5_CONFIG: await write('krb5.conf', text) } };
}

/** Runs a second KDC on the same database, whose clock is ahead. */
async function withClockOf(offset: string): Promise<Change> {
  const [port] = await freePorts(1);
  const conf = await readFile(join(realm.dir, 'kdc.conf'), 'utf8');
  const profile = await write(
    'kdc.conf',
    conf.replace(/(listen = 127\.0\.0\.1):\d+/g, `$1:${port}`),
  );
  const change = await withKrb5Config(text =>
    text.replace(/(kdc = 127\.0\.0\.1):\d+/, `$1:${port}`),
  );
  const kdc = spawn('faketime', ['-f', offset, 'krb5kdc', '-n'], {
    env: {
      ...process.env,
      PATH: `${process.env.PATH}:/usr/sbin`,
      KRB5_CONFIG: realm.krb5Config,
      KRB5_KDC_PROFILE: profile,
    },
    stdio: 'ignore',
    detached: true,
  });
  const isListening = async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  };
  while (!(await isListening())) {
    await sleep(50);
  }
  return {
    ...change,
    async undo() {
      // faketime waits for the KDC.
      process.kill(-kdc.pid!, 'SIGKILL');
      await once(kdc, 'exit');
    },
  };
}

/** Changes a file that only its owner may read to another mode. */
async function withMode(from: string, name: string, mode: number) {
  await copyFile(from, path(name));
  await run('chmod', [mode.toString(8), path(name)]);
  return path(name);
}

type Fault = readonly [
  name: string,
  id: string,
  fix: RegExp,
  apply: () => Change | Promise<Change>,
];

const configured =
  (config: NonNullable<Change['config']>): (() => Change) =>
  () => ({ config });

const FAULTS: readonly Fault[] = [
  [
    'a URL of a directory server without TLS',
    'configuration',
    /correct the key in app-config.yaml/,
    configured({ 'directory.ldap.servers': ['ldap://ipa.example.test'] }),
  ],
  [
    'a variable that is not set',
    'configuration',
    /environment of this command/,
    configured({ 'directory.ldap.baseDn': '${DOCTOR_UNSET}' }),
  ],
  [
    'identities from annotations without trusted locations',
    'configuration',
    /correct the key/,
    configured({
      'directory.portalUsers': { namespace: 'default', username: 'annotation' },
    }),
  ],
  [
    'a base URL without TLS',
    'base-url',
    /https:\/\//,
    configured({ 'backend.baseUrl': 'http://portal.example.test' }),
  ],
  [
    'an IP address as base URL',
    'base-url',
    /host name that users enter/,
    configured({ 'backend.baseUrl': 'http://127.0.0.1:7007' }),
  ],
  [
    'a backend with the header limit of Node.js',
    'header-limit',
    /root-http-router.*--max-http-header-size=103768/,
    () => ({ packages: INSTALLED.filter(name => name !== 'router') }),
  ],
  [
    'the allow-all policy',
    'permission-policy',
    /remove backend\.add\(import\('@backstage\/.*allow-all-policy'\)\)/,
    () => ({ packages: [...INSTALLED, 'allowAll'] }),
  ],
  [
    'disabled permissions',
    'permission-policy',
    /permission\.enabled: true/,
    configured({ 'permission.enabled': false }),
  ],
  [
    'guests with the rights of users',
    'permission-grants',
    /remove permission\.directory\.dangerouslyAllowGuests/,
    configured({ 'permission.directory.dangerouslyAllowGuests': true }),
  ],
  [
    'a sign-in without its module',
    'kerberos-sign-in',
    /add @directory-gateway\/.*kerberos-provider/,
    () => ({ packages: INSTALLED.filter(name => name !== 'signIn') }),
  ],
  [
    'a CA without its module',
    'certificate-authority',
    /add @directory-gateway\/.*embedded-ca/,
    () => ({ packages: INSTALLED.filter(name => name !== 'embedded') }),
  ],
  [
    'a short session key',
    'session-keys',
    /openssl rand -base64 32 \| install -m 600/,
    async () => ({
      config: {
        'directory.sessions.keys': [
          { secretFile: await write('short', 'c2hvcnQtc2VjcmV0') },
        ],
      },
    }),
  ],
  [
    'a session key that others can read',
    'session-keys',
    /install -m 600/,
    async () => ({
      config: {
        'directory.sessions.keys': [
          { secretFile: await withMode(path('session-key'), 'open', 0o644) },
        ],
      },
    }),
  ],
  [
    'several processes without a session key',
    'session-keys',
    /directory\.sessions\.keys/,
    configured({
      'directory.sessions': {},
      'backend.cache': { store: 'redis', connection: 'redis://localhost' },
    }),
  ],
  [
    'a database in memory',
    'database',
    /client: pg/,
    configured({
      'backend.database': { client: 'better-sqlite3', connection: ':memory:' },
    }),
  ],
  [
    'a stopped PostgreSQL',
    'database',
    /systemctl status postgresql/,
    async () => {
      await postgres.interrupt();
      return { undo: () => postgres.resume() };
    },
  ],
  [
    'a PostgreSQL that does not respond',
    'database',
    /systemctl status postgresql/,
    async () => {
      const silent = createTcpServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      return {
        config: {
          'backend.database.connection': { host: '127.0.0.1', port },
        },
        deadlineMs: IMPATIENT_MS,
        undo: () => silent.close(),
      };
    },
  ],
  [
    'a database from a later release',
    'migrations',
    /restore the database/,
    async () => {
      const knex = postgres.connect(DATABASE);
      await knex.schema.createTable('directory_migrations', table => {
        table.string('name');
      });
      await knex('directory_migrations').insert({ name: '2099_later.js' });
      return {
        async undo() {
          await knex.schema.dropTable('directory_migrations');
          await knex.destroy();
        },
      };
    },
  ],
  [
    'a certificate that was renewed by proof of its key',
    'renewals-by-key',
    /docs\/renew-without-a-person\.md/,
    async () => {
      const knex = postgres.connect(DATABASE);
      const tables = require('../../migrations/certificates/20261129010000_certificate_records.js');
      await tables.up(knex);
      const renewed = (serialNumber: string, from: string | null) => ({
        id: randomUUID(),
        authority: 'freeipa',
        serial_number: serialNumber,
        username: 'alice',
        state: 'valid',
        not_after: new Date(Date.now() + 60_000),
        reserved_at: new Date(),
        renewed_from: from,
        is_renewed_by_key: from !== null,
      });
      await knex(RECORDS).insert([
        renewed('1', null),
        renewed('2', '1'),
        renewed('3', '2'),
      ]);
      return {
        async undo() {
          await tables.down(knex);
          await knex.destroy();
        },
      };
    },
  ],
  [
    'no krb5.conf',
    'krb5-config',
    /KRB5_CONFIG/,
    () => ({ env: { KRB5_CONFIG: path('missing') } }),
  ],
  [
    'no keytab',
    'keytab',
    /ipa-getkeytab -p HTTP\/localhost -k/,
    () => ({ config: { 'kerberos.keytab': path('missing') } }),
  ],
  [
    'another keytab in the environment',
    'keytab',
    /unset KRB5_KTNAME/,
    () => ({ env: { KRB5_KTNAME: '/etc/other.keytab' } }),
  ],
  [
    'a keytab that is not one',
    'keytab',
    /ipa-getkeytab -p HTTP\/localhost -k/,
    async () => ({
      config: { 'kerberos.keytab': await write('text', 'not a keytab') },
    }),
  ],
  [
    'a keytab with mode 0644',
    'keytab',
    /chmod 600 .*open\.keytab/,
    async () => ({
      config: {
        'kerberos.keytab': await withMode(realm.keytab, 'open.keytab', 0o644),
      },
    }),
  ],
  [
    'a keytab without HTTP/',
    'keytab-principal',
    /ipa service-add HTTP\/localhost/,
    async () => ({
      config: {
        'kerberos.keytab': await withMode(
          join(realm.dir, 'ldap.keytab'),
          'ldap.keytab',
          0o600,
        ),
      },
    }),
  ],
  [
    'a keytab for another host',
    'keytab-principal',
    /ipa-getkeytab -p HTTP\/localhost/,
    async () => {
      const keytab = path('other.keytab');
      const name = 'HTTP/other.example.test';
      await kadmin('ktadd', '-norandkey', '-k', keytab, name);
      return { config: { 'kerberos.keytab': keytab } };
    },
  ],
  [
    'a host name that is unknown',
    'host-name',
    /ipa dnsrecord-add/,
    async () => {
      const keytab = path('unknown.keytab');
      const name = 'HTTP/other.example.test';
      await kadmin('ktadd', '-norandkey', '-k', keytab, name);
      return {
        config: {
          'kerberos.keytab': keytab,
          'backend.baseUrl': 'https://other.example.test',
        },
      };
    },
  ],
  [
    'another realm than that of the keytab',
    'keytab-principal',
    /kerberos\.realm: EXAMPLE\.TEST/,
    configured({ 'kerberos.realm': 'OTHER.TEST' }),
  ],
  [
    'a key with a deprecated encryption type only',
    'keytab-encryption',
    /ipa-getkeytab .*-e aes256-cts/,
    async () => {
      const keytab = await readFile(realm.keytab);
      // The type of an aes256 key of 32 bytes becomes arcfour-hmac.
      const at = keytab.indexOf(Buffer.from('00120020', 'hex'));
      keytab.writeUInt16BE(23, at);
      return {
        config: { 'kerberos.keytab': await write('weak.keytab', keytab) },
      };
    },
  ],
  [
    'a KDC that does not respond',
    'kdc',
    /ipactl start/,
    async () => ({
      ...(await withKrb5Config(text =>
        text.replace(/ kdc = .*/, ' kdc = 127.0.0.1:9'),
      )),
      deadlineMs: IMPATIENT_MS,
    }),
  ],
  [
    'a realm without a KDC',
    'kdc',
    /\[realms\] EXAMPLE\.TEST/,
    () => withKrb5Config(text => text.replace(/ kdc = .*/, '')),
  ],
  [
    'a principal that the KDC does not have',
    'service-principal',
    /ipa service-add HTTP\/localhost/,
    async () => {
      await kadmin('renprinc', '-force', 'HTTP/localhost', 'HTTP/renamed');
      return {
        undo: () =>
          kadmin('renprinc', '-force', 'HTTP/renamed', 'HTTP/localhost'),
      };
    },
  ],
  [
    'a disabled principal',
    'service-principal',
    /modprinc \+allow_tix -expire never HTTP\/localhost/,
    async () => {
      await kadmin('modprinc', '-allow_tix', 'HTTP/localhost');
      return { undo: () => kadmin('modprinc', '+allow_tix', 'HTTP/localhost') };
    },
  ],
  [
    'a key that was changed in the KDC',
    'key-version',
    /ipa-getkeytab -p HTTP\/localhost .*--retrieve/,
    async () => {
      const stale = await withMode(realm.keytab, 'stale.keytab', 0o600);
      await realm.rotateServiceKey();
      return { config: { 'kerberos.keytab': stale } };
    },
  ],
  [
    'a service without keys in the KDC, as after ipa service-disable',
    'key-version',
    /ipa-getkeytab -p HTTP\/localhost/,
    async () => {
      await kadmin('purgekeys', '-all', 'HTTP/localhost');
      return { undo: () => renewServiceKey(100) };
    },
  ],
  [
    'a KDC without its database',
    'kdc',
    /ipactl status/,
    async () => {
      const file = join(realm.dir, 'kdc', 'principal');
      await rename(file, `${file}.away`);
      return { undo: () => rename(`${file}.away`, file) };
    },
  ],
  [
    'no common encryption type',
    'key-version',
    /permitted_enctypes/,
    () =>
      withKrb5Config(text =>
        text.replace(
          '[libdefaults]',
          '[libdefaults]\n  permitted_enctypes = aes128-cts',
        ),
      ),
  ],
  [
    'a clock 10 minutes behind the KDC',
    'clock',
    /chronyc makestep/,
    () => withClockOf('+600s'),
  ],
  [
    'a clock 10 minutes ahead of the KDC',
    'clock',
    /chronyc makestep/,
    () => withClockOf('-600s'),
  ],
  [
    'a replay cache that cannot be written',
    'kerberos-ticket',
    /folder of the replay cache \(KRB5RCACHENAME\)/,
    () => ({ env: { KRB5RCACHENAME: 'file2:/nonexistent/rcache' } }),
  ],
  [
    'no CA file',
    'ldap-ca-file',
    /\/etc\/ipa\/ca\.crt/,
    () => ({ config: { 'directory.ldap.caFile': path('missing') } }),
  ],
  [
    'a CA file without a certificate',
    'ldap-ca-file',
    /\/etc\/ipa\/ca\.crt/,
    async () => ({
      config: { 'directory.ldap.caFile': await write('no-ca', 'nothing') },
    }),
  ],
  [
    'the CA file of another CA',
    'ldap-tls',
    /set directory\.ldap\.caFile to the CA of localhost/,
    () => ({ config: { 'directory.ldap.caFile': authority.caFile } }),
  ],
  [
    'an expired certificate',
    'ldap-tls',
    /ipa-getcert resubmit/,
    () => withCertificate('localhost', -1),
  ],
  [
    'a certificate that expires in 3 days',
    'ldap-tls',
    /ipa-getcert resubmit/,
    () => withCertificate('localhost', 3),
  ],
  [
    'a certificate of another host',
    'ldap-tls',
    /directory\.ldap\.servers to a name in the certificate/,
    () => withCertificate('other.example.test', 90),
  ],
  [
    'a server without TLS',
    'ldap-tls',
    /openssl s_client -connect localhost/,
    () => ({
      config: {
        'directory.ldap.servers': [
          realm.ldapUrl.replace('ldap://127.0.0.1', 'ldaps://localhost'),
        ],
      },
    }),
  ],
  [
    'a server whose name is unknown',
    'ldap-dns',
    /getent hosts ipa\.invalid/,
    configured({ 'directory.ldap.servers': ['ldaps://ipa.invalid'] }),
  ],
  [
    'a domain without SRV records',
    'ldap-dns',
    /dig \+short SRV _ldaps\._tcp\.ipa\.invalid/,
    configured({
      'directory.ldap.servers': undefined,
      'directory.ldap.srv': { name: '_ldaps._tcp.ipa.invalid' },
    }),
  ],
  [
    'a stopped directory server',
    'ldap-server',
    /ipactl start/,
    async () => {
      await realm.directory.stop();
      return { undo: () => realm.directory.start() };
    },
  ],
  [
    'a directory server that does not respond',
    'ldap-server',
    /ipactl start/,
    async () => {
      await realm.directory.pause();
      return {
        deadlineMs: IMPATIENT_MS,
        undo: () => realm.directory.resume(),
      };
    },
  ],
  [
    'no password file',
    'ldap-password',
    /write the password of the service account/,
    () => ({ config: { 'directory.ldap.bindPasswordFile': path('missing') } }),
  ],
  [
    'an empty password file',
    'ldap-password',
    /write the password of the service account/,
    async () => ({
      config: { 'directory.ldap.bindPasswordFile': await write('empty', '') },
    }),
  ],
  [
    'a password file with mode 0644',
    'ldap-password',
    /chmod 600 .*open-password/,
    async () => ({
      config: {
        'directory.ldap.bindPasswordFile': await withMode(
          realm.bindPasswordFile,
          'open-password',
          0o644,
        ),
      },
    }),
  ],
  [
    'a wrong password',
    'ldap-bind',
    /ldappasswd -x .*uid=portal/,
    async () => ({
      config: {
        'directory.ldap.bindPasswordFile': await write(
          'wrong-password',
          'wrong-password-of-the-account',
        ),
      },
    }),
  ],
  [
    'a locked service account',
    'ldap-bind',
    /account unlock/,
    async () => {
      await modify(realm.bindDn, 'add: nsAccountLock\nnsAccountLock: true');
      return { undo: () => modify(realm.bindDn, 'delete: nsAccountLock') };
    },
  ],
  [
    'another base DN',
    'base-dn',
    /directory\.ldap\.baseDn: dc=example,dc=test/,
    configured({ 'directory.ldap.baseDn': 'dc=example,dc=org' }),
  ],
  [
    'a field with an unknown attribute',
    'ldap-schema',
    /correct directory\.attributes\.pronouns/,
    configured({ 'directory.attributes': { pronouns: 'fasPronounn' } }),
  ],
  [
    'no right to read memberships',
    'ldap-rights',
    /^ipa permission-add 'Read memberOf of users' --bindtype=all --right=\{read,search,compare\} --attrs=memberOf --type=user$/,
    () => hide('cn=users,cn=accounts', 'memberOf'),
  ],
  [
    'no right to read the flags of users',
    'ldap-rights',
    /--attrs=\{fasIsPrivate,nsAccountLock\} --type=user$/,
    () => hide('cn=users,cn=accounts', 'fasIsPrivate || nsAccountLock'),
  ],
  [
    'no right to read members',
    'ldap-rights',
    /--attrs=member --type=group$/,
    () => hide('cn=groups,cn=accounts', 'member'),
  ],
  [
    'no right to read e-mail addresses',
    'ldap-fields',
    /--attrs=\{mail,fasRHBZEmail\} --type=user$/,
    () => hide('cn=users,cn=accounts', 'mail || fasRHBZEmail'),
  ],
  [
    'no right to read signers of agreements',
    'ldap-fields',
    /--attrs=memberUser --subtree='cn=fasagreements,dc=example,dc=test'$/,
    () => hide('cn=fasagreements', 'memberUser'),
  ],
  [
    'no right to search for USNs',
    'usn',
    /--attrs=objectclass --type=user\n.*--attrs=objectclass --type=group$/,
    () => hide('cn=accounts', 'entryusn'),
  ],
  [
    'the key of another CA',
    'embedded-ca-key',
    /restore the key/,
    async () => ({
      config: {
        'directory.certificates.embedded.issuers': [
          {
            keyFile: await write('other-ca-key.pem', (await newCa()).key),
            chainFile: path('ca.pem'),
          },
        ],
      },
    }),
  ],
  [
    'an invalid key of the CA',
    'embedded-ca-key',
    /correct the key/,
    configured({ 'directory.certificates.embedded.organization': undefined }),
  ],
  [
    'a CA key that others can read',
    'embedded-ca-key',
    /chmod 600 .*open-ca-key\.pem/,
    async () => ({
      config: {
        'directory.certificates.embedded.issuers': [
          {
            keyFile: await withMode(
              path('ca-key.pem'),
              'open-ca-key.pem',
              0o644,
            ),
            chainFile: path('ca.pem'),
          },
        ],
      },
    }),
  ],
  [
    'no CA key',
    'embedded-ca-key',
    /restore the key/,
    () => ({
      config: {
        'directory.certificates.embedded.issuers': [
          { keyFile: path('missing'), chainFile: path('ca.pem') },
        ],
      },
    }),
  ],
  [
    'an expired CA certificate',
    'embedded-ca-key',
    /create a new intermediate/,
    async () => {
      const { key, chain } = await newCa(-1);
      return {
        config: {
          'directory.certificates.embedded.issuers': [
            {
              keyFile: await write('old.key', key),
              chainFile: await write('old', chain),
            },
          ],
        },
      };
    },
  ],
  [
    'a proxy that does not pass the CRL',
    'embedded-ca-crl',
    /pass \/api\/directory\/ca\/ without credentials/,
    async () => {
      const proxy = createServer((_req, res) => {
        res.writeHead(401).end();
      }).listen(0, 'localhost');
      await once(proxy, 'listening');
      const { port } = proxy.address() as AddressInfo;
      return {
        config: { 'backend.baseUrl': `http://localhost:${port}` },
        undo: () => proxy.close(),
      };
    },
  ],
  // Last, because the server restarts twice.
  [
    'no USN plugin',
    'usn',
    /plugin usn enable/,
    async () => {
      const setPlugin = async (state: string) => {
        await modify(
          'cn=USN,cn=plugins,cn=config',
          `replace: nsslapd-pluginEnabled\nnsslapd-pluginEnabled: ${state}`,
        );
        await realm.directory.stop();
        await realm.directory.start();
      };
      await setPlugin('off');
      return { undo: () => setPlugin('on') };
    },
  ],
];

it('finds no problems in a healthy portal', async () => {
  const results = await diagnosePortal();
  expect(problemsOf(results)).toEqual([]);
  expect(
    results.filter(({ status }) => status === 'skip').map(({ id }) => id),
  ).toEqual([
    'migrations',
    'renewals-by-key',
    'embedded-ca-crl',
    'freeipa-ca-config',
    'freeipa-ca-login',
    'freeipa-ca-profile',
  ]);
});

/** One of each kind: a file, Kerberos and LDAP. `make trials` tries all. */
const SMOKE = [
  'a session key that others can read',
  'a principal that the KDC does not have',
  'no right to read memberships',
];
const faults = process.env.ALL_FAULTS
  ? FAULTS
  : FAULTS.filter(([name]) => SMOKE.includes(name));

it.each(faults)('reports %s (%s)', async (_name, id, fix, apply) => {
  const change = await apply();
  try {
    const problems = problemsOf(await diagnosePortal(change));
    expect(problems.map(problem => problem.id)).toEqual([id]);
    expect(problems[0].fix?.join('\n')).toMatch(fix);
  } finally {
    await change.undo?.();
  }
});

it('accepts an entry whose classes do not allow all attributes, such as admin', async () => {
  const classes = [
    ...['top', 'person', 'inetUser', 'posixAccount', 'krbPrincipalAux'],
    ...['krbTicketPolicyAux', 'ipaObject', 'ipaSshUser'],
    ...['ipaSshGroupOfPubKeys', 'fasUser'],
  ];
  const removed = [
    ...['givenName', 'displayName', 'initials', 'mail'],
    'userCertificate;binary',
  ];
  await modify(
    `uid=alice,cn=users,cn=accounts,${realm.baseDn}`,
    [
      `replace: objectClass\n${classes.map(name => `objectClass: ${name}`).join('\n')}`,
      ...removed.map(name => `replace: ${name}`),
    ].join('\n-\n'),
  );
  expect(problemsOf(await diagnosePortal())).toEqual([]);
});

it('accepts a keytab whose current key has a lower version, as after ipa service-disable', async () => {
  const keytab = path('two-versions.keytab');
  const add = () =>
    kadmin('ktadd', '-norandkey', '-k', keytab, 'HTTP/localhost');
  for (const kvno of [1, 2, 1]) {
    await kadmin('cpw', '-randkey', 'HTTP/localhost');
    await kadmin('modprinc', '-kvno', String(kvno), 'HTTP/localhost');
    await add();
  }
  const copies = async () =>
    (await readdir(tmpdir())).filter(name => name.startsWith('service-key-'));
  const before = await copies();
  try {
    const results = await diagnosePortal({
      config: { 'kerberos.keytab': keytab },
    });
    expect(problemsOf(results)).toEqual([]);
    expect(await copies()).toEqual(before);
  } finally {
    await renewServiceKey(200);
  }
});

it('skips the permission policy of a portal with its own', async () => {
  const results = await diagnosePortal({
    packages: INSTALLED.filter(name => name !== 'policy'),
  });
  expect(problemsOf(results)).toEqual([]);
  expect(
    results.find(({ id }) => id === 'permission-policy')?.message,
  ).toContain('its own policy');
});

it('warns when one of several servers cannot be used', async () => {
  const results = await diagnosePortal({
    config: {
      'directory.ldap.servers': ['ldaps://localhost:9', realm.ldapsUrl],
    },
  });
  expect(problemsOf(results)).toEqual([
    expect.objectContaining({ id: 'ldap-server', status: 'warn' }),
  ]);
});

it('checks certificates without a password', async () => {
  const results = await diagnosePortal({
    config: {
      'directory.ldap.bindPasswordFile': path('missing'),
      'directory.ldap.caFile': authority.caFile,
    },
  });
  expect(problemsOf(results).map(({ id }) => id)).toEqual([
    'ldap-password',
    'ldap-tls',
  ]);
});

it('ignores modules that NODE_OPTIONS preloads', async () => {
  const module = await write('print.cjs', 'console.log("loaded");');
  const NODE_OPTIONS = `--require=${module}`;
  const results = await diagnosePortal({ env: { NODE_OPTIONS } });
  expect(problemsOf(results)).toEqual([]);
});

it('does not print control characters of a server', async () => {
  const text = '\x1b]0;title\x07\r\x1b[2Kok    database  fine\nfix: rm';
  // An error of PostgreSQL with this text as its code and its message.
  const fields = Buffer.from(`SERROR\0C${text}\0M${text}\0\0`);
  const header = Buffer.from('E....');
  header.writeInt32BE(fields.length + 4, 1);
  const server = createTcpServer(socket => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([header, fields])));
  }).listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const results = await diagnosePortal({
      config: {
        'backend.database.connection': { host: 'localhost', port, user: 'a' },
      },
    });
    expect(problemsOf(results).map(({ id }) => id)).toEqual(['database']);
    expect(formatResults(results)).not.toMatch(/[^\P{Cc}\n]/u);
    expect(formatResults(results)).not.toContain('title');
  } finally {
    server.close();
  }
});

it('replaces control characters of the configuration', async () => {
  const results = await diagnosePortal({
    config: { 'directory.certificates.authority': 'a\u202e\x1b[31m\nok' },
  });
  expect(results.find(({ id }) => id === 'certificate-authority')).toEqual({
    id: 'certificate-authority',
    status: 'ok',
    message: 'a [31m ok',
  });
});

describe('directory-doctor', () => {
  const DOCTOR = join(
    REPOSITORY,
    'plugins/directory-backend/bin/directory-doctor',
  );
  const command = async (change: Change, ...args: readonly string[]) => {
    const { configFiles, env } = await writePortal(change);
    try {
      const { stdout } = await run(
        process.execPath,
        [...[DOCTOR, '--config', configFiles[0], '--timeout', '120'], ...args],
        { env, cwd: folder },
      );
      printed += stdout;
      return { code: 0, stdout };
    } catch (error) {
      const { code, stdout, stderr } = error as Record<string, string>;
      printed += stdout + stderr;
      return { code: Number(code), stdout, stderr };
    }
  };

  it('exits with 0 when no check fails', async () => {
    const { code, stdout } = await command({});
    expect(stdout).toMatch(/^ok {4}configuration +Valid/);
    expect(stdout).toMatch(/ ok, 0 warnings, 0 failures, 6 skipped\n$/);
    expect(code).toBe(0);
  });

  it('prints JSON and exits with 1 when a check fails', async () => {
    const { code, stdout } = await command(
      { config: { 'permission.enabled': false } },
      '--json',
    );
    expect(problemsOf(JSON.parse(stdout!))).toEqual([
      {
        id: 'permission-policy',
        status: 'fail',
        message: expect.stringContaining('permission.enabled'),
        fix: ['set permission.enabled: true'],
      },
    ]);
    expect(code).toBe(1);
  });

  beforeAll(() => run('mkfifo', [path('pipe')]));

  it.each([
    ['a missing CA file', 'postgresql://a@localhost/b?sslrootcert=/missing'],
    ['an invalid port', { host: 'localhost', port: 99_999 }],
  ])('reports a database with %s', async (_name, connection) => {
    const { code, stdout } = await command(
      { config: { 'backend.database.connection': connection } },
      '--json',
    );
    expect(problemsOf(JSON.parse(stdout!)).map(({ id }) => id)).toEqual([
      'database',
    ]);
    expect(code).toBe(1);
  });

  it('does not wait for a pipe in place of a file', async () => {
    const { code, stdout } = await command({
      config: { 'directory.ldap.bindPassword': { $file: path('pipe') } },
    });
    expect(stdout).toMatch(/^FAIL {2}configuration .*not read within 2 s/);
    expect(code).toBe(1);
  });

  it('does not leave processes behind when it is terminated', async () => {
    const { configFiles, env } = await writePortal({
      config: { 'directory.ldap.bindPassword': { $file: path('pipe') } },
    });
    const doctor = spawn(
      process.execPath,
      [DOCTOR, '--config', configFiles[0]],
      { env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    // Opens when the child process reads it.
    const pipe = await open(path('pipe'), 'w');
    doctor.kill('SIGTERM');
    doctor.stdout.resume();
    // Does not close while a process holds the output.
    expect(await once(doctor, 'close')).toEqual([1, null]);
    await pipe.close();
  });

  it.each([
    ['an unknown option', ['--jsn'], "Unknown option '--jsn'"],
    ['a timeout of 0', ['--timeout', '0'], 'Option --timeout takes a positive'],
  ])('exits with 2 for %s', async (_name, args, message) => {
    const { code, stderr } = await command({}, ...args);
    expect(stderr).toContain(message);
    expect(stderr).toContain('Usage: directory-doctor');
    expect(code).toBe(2);
  });
});

it('does not print secrets', async () => {
  await diagnosePortal({
    config: {
      'directory.ldap.bindPasswordFile': undefined,
      'directory.ldap.bindPassword': 'a-password-in-the-configuration',
      'backend.database.connection': {
        host: dirname(folder),
        password: 'a-password-of-the-database',
      },
      'directory.sessions.keys': [{ secret: 'a-short-session-secret' }],
    },
  });
  const secrets = [
    (await readFile(realm.bindPasswordFile, 'utf8')).trim(),
    'wrong-password-of-the-account',
    'a-password-in-the-configuration',
    'a-password-of-the-database',
    'a-short-session-secret',
    'c2hvcnQtc2VjcmV0',
    sessionKey,
    ...caKey.split('\n').filter(line => line && !line.startsWith('-----')),
  ];
  expect(secrets.filter(secret => printed.includes(secret))).toEqual([]);
});
