import type { JsonObject, JsonValue } from '@backstage/types';
import {
  freePorts,
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import { eventually } from '@directory-gateway/directory-core/testUtils';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
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
import { RECORDS } from '../certificates/records/certificateRows';
import type { CheckResult } from './runChecks';

jest.setTimeout(600_000);

const run = promisify(execFile);
const REPOSITORY = resolve(__dirname, '../../../..');
const DOCTOR = join(__dirname, '../../bin/directory-doctor');
const PLUGIN = '@directory-gateway/backstage-plugin-directory-backend';

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
  caKey = await writeCa();
  await symlink(join(REPOSITORY, 'node_modules'), path('node_modules'));
  // Without `src/index.ts`, all dependencies count as loaded.
  const dependencies = { [PLUGIN]: '*', [`${PLUGIN}-module-embedded-ca`]: '*' };
  await write('package.json', JSON.stringify({ dependencies }));
});
afterAll(async () => {
  await Promise.all([realm?.stop(), postgres?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** Creates a CA, and returns its key. */
async function writeCa(): Promise<string> {
  await run('openssl', [
    ...['req', '-x509', '-nodes', '-subj', '/CN=Doctor CA', '-days', '365'],
    ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    ...['-keyout', path('ca.key'), '-out', path('ca.pem')],
  ]);
  return await readFile(path('ca.key'), 'utf8');
}

function healthyConfig(): JsonObject {
  return {
    backend: {
      // No server listens there.
      baseUrl: 'http://localhost:9',
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

/** Writes a portal's configuration, and runs the command. */
async function doctor(change: Change = {}, ...args: readonly string[]) {
  const { config = {}, timeout = PATIENT } = change;
  const values = healthyConfig();
  for (const [key, value] of Object.entries(config)) {
    set(values, key, value);
  }
  await write('app-config.json', JSON.stringify(values));
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

function kerberosEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${process.env.PATH}:/usr/sbin`,
    KRB5_CONFIG: realm.krb5Config,
    KRB5_KDC_PROFILE: join(realm.dir, 'kdc.conf'),
  };
}

async function kadmin(...query: readonly string[]) {
  const env = kerberosEnvironment();
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
  reports('a proxy that refuses long headers', 'base-url', async () => {
    const server = createHttpServer((_req, res) => void res.end());
    const { port, undo } = await listen(server);
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
    text: /SELF_SIGNED_CERT_IN_CHAIN.*NODE_EXTRA_CA_CERTS/,
    config: {
      'backend.https': true,
      'backend.listen': `:${new URL(realm.ldapsUrl).port}`,
    },
  }));

  reports('a stopped PostgreSQL', 'database', async () => {
    await postgres.interrupt();
    return {
      text: /cannot be used \(ENOENT\).*start PostgreSQL/,
      undo: () => postgres.resume(),
    };
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

  reports('a KDC that hangs', 'kerberos-ticket', async () => {
    const { port, undo } = await listen();
    const change = await withKrb5Config(text =>
      text.replace(/(kdc = )127\.0\.0\.1:\d+/, `$1localhost:${port}`),
    );
    return { text: /start the KDC/, ...change, timeout: IMPATIENT, undo };
  });

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

  reports('a clock that differs', 'kerberos-ticket', async () => {
    const [port] = await freePorts(1);
    const conf = await readFile(join(realm.dir, 'kdc.conf'), 'utf8');
    const profile = await write(
      'kdc.conf',
      conf.replace(/(listen = 127\.0\.0\.1):\d+/g, `$1:${port}`),
    );
    const kdc = spawn('faketime', ['-f', '+600s', 'krb5kdc', '-n'], {
      env: { ...kerberosEnvironment(), KRB5_KDC_PROFILE: profile },
      stdio: 'ignore',
      detached: true,
    });
    const change = await withKrb5Config(text =>
      text.replace(/(kdc = 127\.0\.0\.1):\d+/, `$1:${port}`),
    );
    await eventually(() =>
      run('bash', ['-c', `true < /dev/tcp/127.0.0.1/${port}`]),
    );
    // faketime waits for the KDC.
    const undo = () => process.kill(-kdc.pid!, 'SIGKILL');
    return { text: /chronyc makestep/, ...change, undo };
  });

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
  reports('the CA file of another CA', 'ldap-bind', async () => ({
    text: /set directory\.ldap\.caFile to the CA of the server/,
    config: { 'directory.ldap.caFile': path('ca.pem') },
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

  reports('another base DN', 'base-dn', async () => ({
    text: /set directory\.ldap\.baseDn: dc=example,dc=test/,
    config: { 'directory.ldap.baseDn': 'dc=example,dc=org' },
  }));

  reports('hidden memberships', 'ldap-rights', async () => ({
    text: /^fail .*ipa permission-add 'Read memberOf of users' --bindtype=all --right=\{read,search,compare\} --attrs=memberOf --type=user$/,
    ...(await hide('cn=users,cn=accounts', 'memberOf')),
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
