import type { JsonObject, JsonValue } from '@backstage/types';
import {
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import {
  createCaCertificate,
  signingKeyOf,
  writePem,
} from '@directory-gateway/x509';
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { RECORDS } from '../certificates/records/CertificateRecords';
import type { CheckResult } from './runChecks';

jest.setTimeout(600_000);

const run = promisify(execFile);
const REPOSITORY = resolve(__dirname, '../../../..');
const DOCTOR = join(__dirname, '../../bin/directory-doctor');
const PLUGIN = '@directory-gateway/backstage-plugin-directory-backend';
const INSTALLED = [PLUGIN, `${PLUGIN}-module-embedded-ca`];

/** No server listens there. */
const UNUSED_URL = 'http://localhost:9';

/** Backstage's name for the database of the `directory` plugin. */
const DATABASE = 'backstage_plugin_directory';

/** Enough on a busy machine, in seconds. */
const PATIENT = 120;
/** Enough for all servers that respond. */
const IMPATIENT = 30;

/** A change to the healthy portal. */
interface Change {
  /** Values by the path of their keys; `undefined` removes a key. */
  readonly config?: Readonly<Record<string, JsonValue | undefined>>;
  readonly env?: NodeJS.ProcessEnv;
  readonly packages?: readonly string[];
  /** Set for servers that never respond. Default: {@link PATIENT}. */
  readonly timeout?: number;
  readonly undo?: () => unknown;
}

let realm: Realm;
let postgres: PostgresServer;
let folder: string;
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
  [realm, postgres] = await Promise.all([startRealm(), PostgresServer.start()]);
  const admin = postgres.connect('postgres');
  await admin.raw(`create database ${DATABASE}`);
  await admin.destroy();
  caKey = await writeCa('ca', 365);
  await symlink(join(REPOSITORY, 'node_modules'), path('node_modules'));
  await mkdir(path('src'));
});
afterAll(async () => {
  await Promise.all([realm?.stop(), postgres?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** Writes the key and the certificate of a CA, and returns the key. */
async function writeCa(name: string, days: number): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const day = 24 * 60 * 60 * 1000;
  const certificate = await createCaCertificate({
    subject: [{ type: 'CN', value: 'Doctor CA' }],
    key: signingKeyOf(privateKey),
    notBefore: new Date(Date.now() - 2 * day),
    notAfter: new Date(Date.now() + days * day),
  });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await write(`${name}.key`, key);
  await write(`${name}.pem`, writePem('CERTIFICATE', certificate));
  return key;
}

function healthyConfig(): JsonObject {
  return {
    app: { baseUrl: UNUSED_URL },
    backend: {
      baseUrl: UNUSED_URL,
      listen: ':9',
      database: { client: 'pg', connection: postgres.connection(DATABASE) },
    },
    permission: { enabled: true },
    kerberos: { keytab: realm.keytab },
    directory: {
      ldap: {
        servers: [realm.ldapsUrl],
        caFile: realm.caFile,
        baseDn: realm.baseDn,
        bindDn: realm.bindDn,
        bindPasswordFile: realm.bindPasswordFile,
      },
      certificates: {
        authority: 'embedded',
        embedded: {
          organization: 'Example',
          issuers: [{ keyFile: path('ca.key'), chainFile: path('ca.pem') }],
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

/** Writes a portal's configuration and backend, and runs the command. */
async function doctor(change: Change = {}, ...args: readonly string[]) {
  const { config = {}, packages = INSTALLED, timeout = PATIENT } = change;
  const values = healthyConfig();
  for (const [key, value] of Object.entries(config)) {
    set(values, key, value);
  }
  const dependencies = Object.fromEntries(packages.map(name => [name, '*']));
  await write('app-config.json', JSON.stringify(values));
  await write('package.json', JSON.stringify({ dependencies }));
  const lines = packages.map(name => `backend.add(import('${name}'));\n`);
  await write('src/index.ts', lines.join(''));
  const options = ['--config', path('app-config.json'), '--json'];
  const result = await run(
    process.execPath,
    [DOCTOR, ...options, '--timeout', String(timeout), ...args],
    {
      cwd: folder,
      env: { ...process.env, KRB5_CONFIG: realm.krb5Config, ...change.env },
    },
  ).then(
    output => ({ code: 0, ...output }),
    error => error,
  );
  printed += result.stdout + result.stderr;
  return result;
}

/** Returns the warnings and failures. */
async function findProblems(change?: Change): Promise<readonly CheckResult[]> {
  const { code, stdout } = await doctor(change);
  const results: CheckResult[] = JSON.parse(stdout);
  const isFailure = results.some(({ status }) => status === 'fail');
  expect(code).toBe(isFailure ? 1 : 0);
  return results.filter(({ status }) => /warn|fail/.test(status));
}

/** A file, Kerberos and LDAP. `make trials` tries all faults. */
const SMOKE = ['a public keytab', 'an unknown principal', 'hidden memberships'];

/**
 * Tests a fault that one check reports.
 *
 * @param apply - returns the expected status, message and fix, and the change
 */
function reports(
  name: string,
  id: string,
  apply: () => Promise<Change & { readonly text: RegExp }>,
) {
  if (!process.env.ALL_FAULTS && !SMOKE.includes(name)) {
    return;
  }
  it(`reports ${name} (${id})`, async () => {
    const { text, ...change } = await apply();
    try {
      const problems = await findProblems(change);
      expect(problems.map(problem => problem.id)).toEqual([id]);
      const [{ status, message, fix }] = problems;
      expect(`${status} ${message}; ${fix}`).toMatch(text);
    } finally {
      await change.undo?.();
    }
  });
}

function modify(dn: string, change: string) {
  return realm.modify(`dn: ${dn}\nchangetype: modify\n${change}\n`);
}

/** Hides attributes from the service account, as if its ACI were removed. */
async function hide(container: string, attributes: string): Promise<Change> {
  const aci = `(targetattr = "${attributes}")(version 3.0; acl "doctor"; deny (read, search, compare) userdn = "ldap:///${realm.bindDn}";)`;
  const change = (operation: string) =>
    modify(`${container},${realm.baseDn}`, `${operation}: aci\naci: ${aci}`);
  await change('add');
  return { undo: () => change('delete') };
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

/** Adds the current key of a principal to a keytab. */
async function addKey(name: string, principal: string): Promise<Change> {
  await kadmin('ktadd', '-norandkey', '-k', path(name), principal);
  return { config: { 'kerberos.keytab': path(name) } };
}

/** Replaces the key of the service by one with a higher version. */
async function renewServiceKey(kvno: number) {
  await kadmin('cpw', '-randkey', 'HTTP/localhost');
  await kadmin('modprinc', '-kvno', String(kvno), 'HTTP/localhost');
  await realm.rotateServiceKey();
}

/** Changes the configuration of the Kerberos library. */
async function withKrb5Config(edit: (text: string) => string): Promise<Change> {
  const text = edit(await readFile(realm.krb5Config, 'utf8'));
  return { env: { KRB5_CONFIG: await write('krb5.conf', text) } };
}

/** By default, the server accepts connections and never responds. */
async function listen(server: Server = createServer()) {
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, undo: () => server.close() };
}

describe('the configuration and the portal', () => {
  reports('a variable that is not set', 'configuration', async () => ({
    text: /directory\.ldap\.baseDn.*environment of this command/,
    config: { 'directory.ldap.baseDn': '${DOCTOR_UNSET}' },
  }));

  reports('a proxy that refuses long headers', 'base-url', async () => {
    const { port, undo } = await listen(createHttpServer());
    return {
      text: /returns 431 for a header of 87384 bytes.*large_client_header/,
      config: {
        'backend.baseUrl': `http://localhost:${port}`,
        'directory.certificates': undefined,
      },
      undo,
    };
  });

  reports('an untrusted certificate', 'own-certificate', async () => ({
    text: /UNABLE_TO_VERIFY_LEAF_SIGNATURE.*NODE_EXTRA_CA_CERTS/,
    config: {
      'backend.https': true,
      'backend.listen': `:${new URL(realm.ldapsUrl).port}`,
    },
  }));

  reports('a stopped PostgreSQL', 'database', async () => {
    await postgres.interrupt();
    return {
      text: /ECONNREFUSED.*start PostgreSQL/,
      undo: () => postgres.resume(),
    };
  });

  reports('a PostgreSQL that hangs', 'database', async () => {
    const { port, undo } = await listen();
    const connection = { host: 'localhost', port };
    const config = { 'backend.database.connection': connection };
    return { text: /No result/, config, timeout: IMPATIENT, undo };
  });

  reports('renewals by proof of a key', 'database', async () => {
    const knex = postgres.connect(DATABASE);
    const tables = require('../../migrations/certificates/20261129010000_certificate_records.js');
    await tables.up(knex);
    const renewed = (serialNumber: string, from: string | null) => ({
      id: randomUUID(),
      authority: 'freeipa',
      serial_number: serialNumber,
      username: 'alice',
      state: 'valid',
      not_after: new Date(Date.now() + 600_000),
      reserved_at: new Date(),
      renewed_from: from,
      is_renewed_by_key: from !== null,
    });
    const rows = [renewed('1', null), renewed('2', '1'), renewed('3', '2')];
    await knex(RECORDS).insert(rows);
    return {
      text: /^warn .* possible: 3; .*docs\/renew-without-a-person\.md/,
      async undo() {
        await tables.down(knex);
        await knex.destroy();
      },
    };
  });
});

describe('Kerberos', () => {
  reports('a public keytab', 'keytab', async () => ({
    text: /public\.keytab is accessible to other users.*mode 600/,
    config: {
      'kerberos.keytab': await write(
        'public.keytab',
        await readFile(realm.keytab),
        0o644,
      ),
    },
  }));

  reports('a keytab for another host', 'keytab', async () => ({
    text: /has no key of HTTP\/localhost.*ipa-getkeytab -p HTTP\/localhost/,
    ...(await addKey('other.keytab', 'HTTP/other.example.test')),
  }));

  reports('another realm', 'kerberos-ticket', async () => ({
    text: /set kerberos\.realm: EXAMPLE\.TEST/,
    config: { 'kerberos.realm': 'OTHER.TEST' },
  }));

  reports('a KDC that hangs', 'kerberos-ticket', async () => {
    const { port, undo } = await listen();
    const change = await withKrb5Config(text =>
      text.replace(/(kdc = )127\.0\.0\.1:\d+/, `$1localhost:${port}`),
    );
    return { text: /start the KDC/, ...change, timeout: IMPATIENT, undo };
  });

  reports('a realm without a KDC', 'kerberos-ticket', async () => ({
    text: /\[realms\] EXAMPLE\.TEST/,
    ...(await withKrb5Config(text => text.replace(/ kdc = .*/, ''))),
  }));

  reports('a missing krb5.conf', 'kerberos-ticket', async () => ({
    text: /KRB5_CONFIG|add a KDC to krb5\.conf/,
    env: { KRB5_CONFIG: path('missing') },
  }));

  reports('an unknown principal', 'kerberos-ticket', async () => {
    const names = ['HTTP/localhost', 'HTTP/renamed'];
    await kadmin('renprinc', '-force', ...names);
    return {
      text: /not found in Kerberos database.*ipa service-add HTTP\/localhost/,
      undo: () => kadmin('renprinc', '-force', ...names.reverse()),
    };
  });

  reports('a disabled principal', 'kerberos-ticket', async () => {
    await kadmin('modprinc', '-allow_tix', 'HTTP/localhost');
    const undo = () => kadmin('modprinc', '+allow_tix', 'HTTP/localhost');
    return { text: /krbTicketFlags/, undo };
  });

  reports('a key that the KDC has replaced', 'kerberos-ticket', async () => {
    const old = await write('old.keytab', await readFile(realm.keytab));
    await realm.rotateServiceKey();
    return {
      text: /create a new key: ipa-getkeytab -p HTTP\/localhost/,
      config: { 'kerberos.keytab': old },
    };
  });

  reports('a disabled service', 'kerberos-ticket', async () => {
    await kadmin('purgekeys', '-all', 'HTTP/localhost');
    const undo = () => renewServiceKey(100);
    return { text: /create a key, .* after ipa service-disable/, undo };
  });

  reports('a KDC without its database', 'kerberos-ticket', async () => {
    const file = join(realm.dir, 'kdc', 'principal');
    await rename(file, `${file}.away`);
    const undo = () => rename(`${file}.away`, file);
    return { text: /start the directory server/, undo };
  });

  reports('no common encryption type', 'kerberos-ticket', async () => ({
    text: /permitted_enctypes/,
    ...(await withKrb5Config(text =>
      text.replace(/\[libdefaults\]/, '$&\n permitted_enctypes = aes128-cts'),
    )),
  }));

  reports('a clock that differs', 'kerberos-ticket', async () => ({
    text: /chronyc makestep/,
    env: {
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME: '-600s',
      LD_PRELOAD: '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
    },
  }));

  reports('an unwritable replay cache', 'kerberos-ticket', async () => ({
    text: /replay cache \(KRB5RCACHENAME\)/,
    env: { KRB5RCACHENAME: 'file2:/nonexistent/rcache' },
  }));

  it('accepts a key with a lower version, as after ipa service-disable', async () => {
    let change: Change = {};
    for (const kvno of [1, 2, 1]) {
      await kadmin('cpw', '-randkey', 'HTTP/localhost');
      await kadmin('modprinc', '-kvno', String(kvno), 'HTTP/localhost');
      change = await addKey('two-versions.keytab', 'HTTP/localhost');
    }
    try {
      expect(await findProblems(change)).toEqual([]);
    } finally {
      await renewServiceKey(200);
    }
  });
});

describe('the directory', () => {
  reports('a missing CA file', 'ldap-bind', async () => ({
    text: /directory\.ldap\.caFile cannot be read: ENOENT/,
    config: { 'directory.ldap.caFile': path('missing') },
  }));

  reports('the CA file of another CA', 'ldap-bind', async () => ({
    text: /set directory\.ldap\.caFile to the CA of the server/,
    config: { 'directory.ldap.caFile': path('ca.pem') },
  }));

  reports('a domain without SRV records', 'ldap-bind', async () => ({
    text: /DNS has no SRV records _ldaps\._tcp\.ipa\.invalid/,
    config: {
      'directory.ldap.servers': undefined,
      'directory.ldap.srv': { name: '_ldaps._tcp.ipa.invalid' },
    },
  }));

  reports('one of two servers stopped', 'ldap-bind', async () => ({
    text: /^warn localhost:9: .*ECONNREFUSED/,
    config: {
      'directory.ldap.servers': ['ldaps://localhost:9', realm.ldapsUrl],
    },
  }));

  reports('a directory server that hangs', 'ldap-bind', async () => {
    await realm.directory.pause();
    const undo = () => realm.directory.resume();
    return { text: /no response.*ipactl start/, timeout: IMPATIENT, undo };
  });

  reports('a wrong password', 'ldap-bind', async () => ({
    text: /result code 49.*uid=portal.*ldapwhoami/,
    config: {
      'directory.ldap.bindPasswordFile': await write('password', 'wrong-one'),
    },
  }));

  reports('a locked service account', 'ldap-bind', async () => {
    await modify(realm.bindDn, 'add: nsAccountLock\nnsAccountLock: true');
    const undo = () => modify(realm.bindDn, 'delete: nsAccountLock');
    return { text: /result code 53/, undo };
  });

  reports('another base DN', 'base-dn', async () => ({
    text: /set directory\.ldap\.baseDn: dc=example,dc=test/,
    config: { 'directory.ldap.baseDn': 'dc=example,dc=org' },
  }));

  reports('an unknown attribute', 'ldap-rights', async () => ({
    text: /schema lacks fasPronounn.*directory\.attributes/,
    config: { 'directory.attributes': { pronouns: 'fasPronounn' } },
  }));

  reports('hidden memberships', 'ldap-rights', async () => ({
    text: /^fail .*ipa permission-add 'Read memberOf of users' --bindtype=all --right=\{read,search,compare\} --attrs=memberOf --type=user$/,
    ...(await hide('cn=users,cn=accounts', 'memberOf')),
  }));

  reports('hidden members', 'ldap-rights', async () => ({
    text: /^fail .*--attrs=member --type=group$/,
    ...(await hide('cn=groups,cn=accounts', 'member')),
  }));

  reports('hidden fields', 'ldap-rights', async () => ({
    text: /^warn .*--attrs=mail --attrs=fasRHBZEmail --type=user$/,
    ...(await hide('cn=users,cn=accounts', 'mail || fasRHBZEmail')),
  }));

  reports('hidden signers of agreements', 'ldap-rights', async () => ({
    text: /--attrs=memberUser --subtree='cn=fasagreements,dc=example,dc=test'$/,
    ...(await hide('cn=fasagreements', 'memberUser')),
  }));

  reports('hidden USNs', 'ldap-position', async () => ({
    text: /^warn .*entryusn.*plugin usn enable/,
    ...(await hide('cn=accounts', 'entryusn')),
  }));

  it('accepts an entry whose classes do not allow all attributes, such as admin', async () => {
    const classes = [
      ...['top', 'person', 'inetUser', 'posixAccount', 'krbPrincipalAux'],
      ...['krbTicketPolicyAux', 'ipaObject', 'ipaSshUser'],
      ...['ipaSshGroupOfPubKeys', 'fasUser'],
    ];
    const removed = ['givenName', 'displayName', 'initials', 'mail'];
    const changes = [
      `replace: objectClass\n${classes.map(name => `objectClass: ${name}`).join('\n')}`,
      ...[...removed, 'userCertificate;binary'].map(name => `replace: ${name}`),
    ];
    const dn = `uid=alice,cn=users,cn=accounts,${realm.baseDn}`;
    await modify(dn, changes.join('\n-\n'));
    expect(await findProblems()).toEqual([]);
  });

  it('accepts agreements with an unreadable object class, as with freeipa-fas', async () => {
    const change = await hide('cn=fasagreements', 'objectClass');
    expect(await findProblems(change)).toEqual([]);
    await change.undo?.();
  });
});

describe('the embedded CA', () => {
  const issuers = (keyFile: string, chainFile: string) => ({
    'directory.certificates.embedded.issuers': [{ keyFile, chainFile }],
  });

  reports('the key of another CA', 'embedded-ca', async () => {
    await writeCa('other', 365);
    return {
      text: /other\.key is not the key of the CA's certificate/,
      config: issuers(path('other.key'), path('ca.pem')),
    };
  });

  reports('a public key file', 'embedded-ca', async () => ({
    text: /public\.key cannot be read: .*accessible to other users/,
    config: issuers(await write('public.key', caKey, 0o644), path('ca.pem')),
  }));

  reports('an expired CA', 'embedded-ca', async () => {
    await writeCa('expired', -1);
    return {
      text: /^fail .*create a new intermediate/,
      config: issuers(path('expired.key'), path('expired.pem')),
    };
  });

  reports('a CA key in production', 'embedded-ca', async () => ({
    text: /^warn .*in the process of the portal.*step-ca/,
    env: { NODE_ENV: 'production' },
  }));

  reports('a CRL that needs credentials', 'embedded-ca', async () => {
    const { port, undo } = await listen(
      createHttpServer({ maxHeaderSize: 200_000 }, (_req, res) => {
        res.writeHead(401).end();
      }),
    );
    return {
      text: /^warn .*pass \/api\/directory\/ca\/ without credentials/,
      config: { 'backend.baseUrl': `http://localhost:${port}` },
      undo,
    };
  });
});

it('finds no problems in a healthy portal', async () => {
  expect(await findProblems()).toEqual([]);
});

it('does not leave processes behind when it is terminated', async () => {
  await run('mkfifo', [path('pipe')]);
  const child = spawn(process.execPath, [DOCTOR, '--config', path('pipe')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Opens when the child process reads it.
  const pipe = await open(path('pipe'), 'w');
  child.kill('SIGTERM');
  child.stdout.resume();
  // Does not close while a process holds the output.
  expect(await once(child, 'close')).toEqual([null, 'SIGTERM']);
  await pipe.close();
});

it('exits with 2 and prints its usage when an option is invalid', async () => {
  for (const args of [['--jsn'], ['--timeout', '0']]) {
    const { code, stderr } = await doctor({}, ...args);
    expect(stderr).toContain('Usage: directory-doctor');
    expect(code).toBe(2);
  }
});

it('does not print secrets', async () => {
  await findProblems({
    config: {
      'directory.ldap.bindPasswordFile': undefined,
      'directory.ldap.bindPassword': 'a-password-of-the-account',
      'backend.database.connection': {
        host: folder,
        password: 'a-password-of-the-database',
      },
    },
  });
  const secrets = [
    (await readFile(realm.bindPasswordFile, 'utf8')).trim(),
    'wrong-one',
    'a-password-of-the-account',
    'a-password-of-the-database',
    ...caKey.split('\n').filter(line => line && !line.startsWith('-----')),
  ];
  expect(secrets.filter(secret => printed.includes(secret))).toEqual([]);
});
