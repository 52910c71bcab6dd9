import { freePorts, startRealm, type Realm } from '@directory-gateway/realm';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Certmonger } from './__testUtils__/certificates/Certmonger';
import { makeCsr } from './__testUtils__/certificates/makeCsr';
import { FastClock } from './__testUtils__/FastClock';
import { embeddedAuthority } from './__testUtils__/gateway/directoryConfig';
import {
  startGateway,
  type Gateway,
} from './__testUtils__/gateway/startGateway';

/**
 * Lifetimes during which certmonger keeps certificates valid, over two restarts.
 * Default: one renewal after one restart.
 */
const LIFETIMES = Number(process.env.LIFETIMES || 0);
const RESTARTS = LIFETIMES > 0 ? 2 : 1;

/**
 * certmonger checks a certificate at most every 30 minutes, and does not renew
 * one that is younger. Its clock and that of the portal are so fast that it
 * checks every 30 seconds, and that certificates of two hours expire after two
 * minutes. Without LIFETIMES they are valid for a day: a renewal does not depend
 * on the speed of the machine.
 */
const SPEED = 60;
const HOUR = 3600;
const VALIDITY_SECONDS = LIFETIMES > 0 ? 2 * HOUR : 24 * HOUR;
/** Seconds before the expiry at which certmonger renews. */
const RENEWALS = [
  VALIDITY_SECONDS - HOUR / 2,
  VALIDITY_SECONDS / 2,
  VALIDITY_SECONDS / 4,
];

jest.setTimeout((LIFETIMES * VALIDITY_SECONDS * 1000) / SPEED + 600_000);

const run = promisify(execFile);
const BIN = resolve(__dirname, '../bin');
const HELPER = join(BIN, 'directory-certmonger');
const RENEW = join(BIN, 'directory-renew-certificate');
/** Users of certificates, with their kinds of keys. */
const USERS = [
  { user: 'alice', type: 'EC', size: '256' },
  { user: 'bob', type: 'EC', size: '384' },
  { user: 'erin', type: 'RSA', size: '2048' },
] as const;

let folder: string;
let clock: FastClock;
let realm: Realm;
let port: number;
let gateway: Gateway;

const path = (...names: readonly string[]) => join(folder, ...names);
const url = () => `http://localhost:${port}`;
const keytabOf = (user: string) => path(`${user}.keytab`);

async function startPortal(): Promise<Gateway> {
  return startGateway({
    realm,
    port,
    env: { ...clock.wallClockEnv, KRB5_CONFIG: path('portal-krb5.conf') },
    backend: {
      database: {
        client: 'better-sqlite3',
        connection: { directory: path('database') },
      },
    },
    directory: {
      certificates: {
        authority: 'embedded',
        embedded: {
          ...embeddedAuthority(realm).embedded,
          profiles: [
            { name: 'userCerts', validity: { seconds: VALIDITY_SECONDS } },
            { name: 'second' },
          ],
        },
        profiles: [{ name: 'userCerts' }, { name: 'second' }],
      },
    },
  });
}

/** Writes a keytab with the key of a user. */
async function exportKey(user: string): Promise<void> {
  await run(
    'kadmin.local',
    ['-r', realm.realm, 'ktadd', '-norandkey', '-k', keytabOf(user), user],
    {
      env: {
        ...process.env,
        PATH: `${process.env.PATH}:/usr/sbin`,
        KRB5_CONFIG: realm.krb5Config,
        KRB5_KDC_PROFILE: join(realm.dir, 'kdc.conf'),
      },
    },
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'renewal-'));
  [clock, realm] = await Promise.all([FastClock.start(SPEED), startRealm()]);
  [port] = await freePorts(1);
  const krb5Config = await readFile(realm.krb5Config, 'utf8');
  await writeFile(
    path('portal-krb5.conf'),
    // Kerberos uses the machine's clock, which is days behind the portal's.
    krb5Config.replace('[libdefaults]', '[libdefaults]\n  clockskew = 30d'),
  );
  for (const { user } of USERS) {
    await exportKey(user);
  }
  await mkdir(path('certificates'));
  gateway = await startPortal();
});

afterAll(async () => {
  await gateway?.stop();
  await realm?.stop();
  await clock?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Exit status and output of a script. */
interface Result {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function runScript(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Result> {
  const child = execFile(file, [...args], {
    env: { ...process.env, KRB5_CONFIG: realm.krb5Config, ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout!.on('data', text => (output.stdout += text));
  child.stderr!.on('data', text => (output.stderr += text));
  const [status] = await once(child, 'close');
  return { status, ...output };
}

const helper = (
  args: readonly string[],
  variables: NodeJS.ProcessEnv,
): Promise<Result> => runScript(HELPER, [`--url=${url()}`, ...args], variables);

const certificatesIn = (pem: string): readonly X509Certificate[] =>
  (pem.match(/-----BEGIN[^]+?-----END CERTIFICATE-----\n/g) ?? []).map(
    text => new X509Certificate(text),
  );

/** Certificate, private key and CA of a user, as files. */
const filesOf = (user: string) => ({
  certificate: path('certificates', `${user}.pem`),
  key: path('certificates', `${user}.key`),
  roots: path('certificates', `${user}-roots.pem`),
});
type Files = ReturnType<typeof filesOf>;

/**
 * Reads a certificate and verifies chain, time and key.
 *
 * @throws Error when one of them is not valid
 */
async function readValid(files: Files): Promise<X509Certificate> {
  const pem = await readFile(files.certificate);
  await run(
    'openssl',
    [
      // certmonger saves the root only.
      ...['verify', '-CAfile', files.roots, '-untrusted', path('roots.pem')],
      files.certificate,
    ],
    { env: { ...process.env, ...clock.env } },
  );
  const { stdout } = await run('openssl', [
    ...['pkey', '-in', files.key, '-pubout'],
  ]);
  const certificate = new X509Certificate(pem);
  expect(stdout).toBe(
    certificate.publicKey.export({ type: 'spki', format: 'pem' }),
  );
  return certificate;
}

/** Reads the certificates of users again and again. */
class Watch {
  /** Start of the first certificate of each user, in milliseconds. */
  readonly #firstStart = new Map<string, number>();
  readonly #last = new Map<string, X509Certificate>();
  /** Certificates that do not count as renewed. */
  #known: readonly X509Certificate[] = [];
  readonly #users: readonly string[];
  readonly #running: Promise<void>;
  #stopped = false;

  constructor(users: readonly string[]) {
    this.#users = users;
    this.#running = this.#run();
    // Reported by renewedFor() and stop().
    this.#running.catch(() => {});
  }

  /** From now on, the current certificates do not count as renewed. */
  forget(): void {
    this.#known = [...this.#last.values()];
  }

  /**
   * Waits until every user has a certificate that is not forgotten and began
   * this many lifetimes after the first.
   *
   * @throws Error when a certificate was not valid
   */
  async renewedFor(lifetimes: number): Promise<void> {
    const milliseconds = lifetimes * VALIDITY_SECONDS * 1000;
    const isRenewed = (user: string) => {
      const last = this.#last.get(user);
      return (
        last !== undefined &&
        !this.#known.includes(last) &&
        Date.parse(last.validFrom) >= this.#firstStart.get(user)! + milliseconds
      );
    };
    while (!this.#users.every(isRenewed)) {
      await Promise.race([this.#running, sleep(100)]);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      for (const user of this.#users) {
        const certificate = await this.#sample(user);
        const last = this.#last.get(user);
        if (certificate.serialNumber !== last?.serialNumber) {
          this.#last.set(user, certificate);
        }
        if (!last) {
          const start = Date.parse(certificate.validFrom);
          this.#firstStart.set(user, start);
        }
      }
      await sleep(200);
    }
  }

  /**
   * certmonger replaces key and certificate one after the other, so a sample
   * between the two is repeated.
   */
  async #sample(user: string): Promise<X509Certificate> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await readValid(filesOf(user));
      } catch (error) {
        if (attempt === 10) {
          throw error;
        }
      }
    }
  }
}

describe('directory-certmonger', () => {
  const csr = makeCsr({ subject: '/CN=alice' });
  const keytab = () => `--keytab=${keytabOf('alice')}`;

  /** Runs the helper with a server that returns the same response to all. */
  async function withResponse(
    response: {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: object;
    },
    variables: NodeJS.ProcessEnv = { CERTMONGER_CSR: csr },
  ): Promise<Result> {
    const server = createServer((_request, reply) => {
      const text = JSON.stringify(response.body ?? {}, null, 2);
      reply.writeHead(response.status, response.headers).end(text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: stubPort } = server.address() as AddressInfo;
    try {
      return await runScript(
        HELPER,
        [`--url=http://localhost:${stubPort}/`],
        variables,
      );
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  it('issues a certificate with a keytab', async () => {
    const { status, stdout } = await helper([keytab()], {
      CERTMONGER_CSR: csr,
      CERTMONGER_CA_PROFILE: 'userCerts',
    });
    const [certificate, ...issuers] = certificatesIn(stdout);
    expect([status, certificate.subject]).toEqual([
      0,
      'O=EXAMPLE.TEST\nCN=alice',
    ]);
    expect(certificate.checkIssued(issuers[0])).toBe(true);
    await writeFile(path('roots.pem'), issuers.map(String).join(''));
  });

  it.each([
    ['for another user', '/CN=bob', [], {}, /^403: .*\n$/],
    [
      'with the name of another user',
      '/CN=bob',
      ['--user=alice'],
      {},
      /^400: .*user name.*\n$/,
    ],
    [
      'of an unknown profile',
      '/CN=alice',
      [],
      { CERTMONGER_CA_PROFILE: 'none' },
      /^400: .*profile.*\n$/,
    ],
  ])('rejects a CSR %s', async (_what, subject, args, variables, message) => {
    const result = await helper([keytab(), ...args], {
      CERTMONGER_CSR: makeCsr({ subject }),
      ...variables,
    });
    expect(result).toEqual({
      status: 2,
      stdout: expect.stringMatching(message),
      stderr: '',
    });
  });

  it('exits with 4 without a URL or with an unknown option', async () => {
    const noUrl = await runScript(HELPER, [], { CERTMONGER_CSR: csr });
    const unknown = await helper(['--verbose=1'], { CERTMONGER_CSR: csr });
    expect([noUrl, unknown]).toEqual([
      { status: 4, stdout: expect.stringMatching(/^--url: /), stderr: '' },
      { status: 4, stdout: expect.stringMatching(/^--verbose: /), stderr: '' },
    ]);
  });

  it.each([
    ['503', { status: 503 }, '60'],
    ['429', { status: 429, headers: { 'Retry-After': '7' } }, '7'],
    ['500', { status: 500 }, '60'],
    ['401', { status: 401 }, '60'],
  ])('tries again after a %s', async (_what, response, delay) => {
    const result = await withResponse({
      ...response,
      body: { message: 'The CA is "busy".' },
    });
    expect(result).toEqual({
      status: 5,
      stdout: `${delay}\nretry\n`,
      stderr: `directory-certmonger: ${response.status}: The CA is "busy".\n`,
    });
  });

  it('tries again when the portal cannot be reached', async () => {
    const [unused] = await freePorts(1);
    const result = await runScript(
      HELPER,
      [`--url=http://localhost:${unused}`, '--retry=5'],
      { CERTMONGER_CSR: csr, CERTMONGER_OPERATION: 'POLL' },
    );
    expect(result).toMatchObject({ status: 5, stdout: '5\nretry\n' });
  });

  it.each([
    ['IDENTIFY', { status: 0, stdout: 'directory-certmonger 1\n' }],
    ['GET-SUPPORTED-TEMPLATES', { status: 0, stdout: 'userCerts\nsecond\n' }],
    ['GET-DEFAULT-TEMPLATE', { status: 0, stdout: 'userCerts\n' }],
    [
      'GET-NEW-REQUEST-REQUIREMENTS',
      { status: 0, stdout: 'CERTMONGER_REQ_SUBJECT\n' },
    ],
    ['FETCH-ROOTS', { status: 6, stdout: '' }],
    ['FETCH-SCEP-CA-CAPS', { status: 6, stdout: '' }],
  ])('supports %s', async (operation, expected) => {
    const result = await helper([keytab()], {
      CERTMONGER_OPERATION: operation,
    });
    expect(result).toEqual({ ...expected, stderr: '' });
  });

  it('keeps certificates valid while all servers are restarted', async () => {
    const certmonger = await Certmonger.create({
      folder: path('certmonger'),
      env: clock.env,
      defaults: {
        enroll_ttls: RENEWALS.join(', '),
        notify_ttls: '1800',
        notification_method: 'command',
        notification_destination: '/bin/true',
        // Every other renewal has a new key.
        max_key_use_count: '2',
      },
    });
    const restart = async () => {
      await Promise.all([
        certmonger.stop(),
        gateway.stop(),
        realm.directory.stop(),
        realm.kdc.stop(),
      ]);
      [gateway] = await Promise.all([
        startPortal(),
        certmonger.start(),
        realm.directory.start(),
        realm.kdc.start(),
      ]);
    };
    let watch: Watch | undefined;
    try {
      await certmonger.start();
      for (const { user, type, size } of USERS) {
        // certmonger's helpers do not inherit its environment.
        const command = [
          ...['env', `KRB5_CONFIG=${realm.krb5Config}`, HELPER],
          ...[`--url=${url()}`, `--keytab=${keytabOf(user)}`],
          ...[`--roots=${path('roots.pem')}`, '--retry=60'],
          ...(user === 'alice' ? [] : [`--key=${path('certificates')}`]),
        ];
        const { certificate, key, roots } = filesOf(user);
        await certmonger.getcert('add-ca', [
          ...['-c', `directory-${user}`, '-e', command.join(' ')],
        ]);
        await certmonger.getcert('request', [
          ...['-c', `directory-${user}`, '-I', user, '-N', `CN=${user}`],
          ...['-f', certificate, '-k', key, '-F', roots],
          ...['-G', type, '-g', size, '--wait'],
        ]);
      }
      watch = new Watch(USERS.map(({ user }) => user));
      for (let restarts = 1; restarts <= RESTARTS; restarts++) {
        await watch.renewedFor((restarts * LIFETIMES) / (RESTARTS + 1));
        await restart();
        watch.forget();
      }
      await watch.renewedFor(LIFETIMES);
      await watch.stop();
      const requests = gateway.log();
      expect(requests).toMatch(/POST \S+\/certs\/\d+\/renewal\/ HTTP\S+ 200/);
      expect(requests).toMatch(/POST \S+\/certs\/\d+\/renewal\/nonce\/ /);
      expect(requests).not.toMatch(/POST \S+\/v1\/certs\/ /);
    } catch (error) {
      const requests = await certmonger.getcert('list').catch(String);
      throw new Error(`${requests}\n${certmonger.log().slice(-10_000)}`, {
        cause: error,
      });
    } finally {
      await watch?.stop().catch(() => {});
      await certmonger.stop();
    }
  });
});

describe('directory-renew-certificate', () => {
  const OLD = ['certificate', 'key'] as const;

  /** Issues a certificate with a key that OpenSSL generates. */
  async function issue(name: string, algorithm: readonly string[]) {
    const files = { ...filesOf(name), roots: path('roots.pem') };
    const request = path(`${name}.csr`);
    await run('openssl', [
      ...['genpkey', '-out', files.key, '-algorithm', ...algorithm],
    ]);
    await run('openssl', [
      ...['req', '-new', '-key', files.key, '-subj', '/CN=alice'],
      ...['-out', request],
    ]);
    const { stdout } = await helper([`--keytab=${keytabOf('alice')}`], {
      CERTMONGER_CSR: await readFile(request, 'utf8'),
    });
    await writeFile(files.certificate, stdout);
    return files;
  }

  /** Runs the script with the clock of the portal and without a ticket. */
  const renew = (
    files: Pick<Files, 'certificate' | 'key'>,
    args: readonly string[],
    baseUrl = url(),
  ) =>
    runScript(
      RENEW,
      [
        ...[`--url=${baseUrl}`, `--cert=${files.certificate}`],
        ...[`--key=${files.key}`, ...args],
      ],
      { ...clock.wallClockEnv, KRB5CCNAME: 'MEMORY:none' },
    );

  it.each([
    ['P-256', ['EC', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['P-384', ['EC', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['RSA', ['RSA', '-pkeyopt', 'rsa_keygen_bits:2048']],
    ['Ed25519', ['ED25519']],
  ])('renews a certificate with a key for %s', async (name, algorithm) => {
    const files = await issue(name, algorithm);
    const old = await readValid(files);
    const early = await renew(files, ['--percent=0', '--after=exit 1']);
    expect([early.status, (await readValid(files)).raw]).toEqual([0, old.raw]);

    const { status, stdout } = await renew(files, [
      ...['--percent=100', `--after=touch ${path('reloaded')}`],
    ]);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining(`renewed ${files.certificate} until`),
    });
    const renewed = await readValid(files);
    expect(renewed.subject).toBe(old.subject);
    expect(renewed.publicKey.equals(old.publicKey)).toBe(false);
    expect(renewed.publicKey.asymmetricKeyType).toBe(
      old.publicKey.asymmetricKeyType,
    );
    expect(await readFile(path('reloaded'), 'utf8')).toBe('');
    const pem = await readFile(files.certificate, 'utf8');
    expect(certificatesIn(pem).length).toBeGreaterThan(1);
    const kept = await readValid({
      certificate: `${files.certificate}.old`,
      key: `${files.key}.old`,
      roots: files.roots,
    });
    expect(kept.raw).toEqual(old.raw);
  });

  it.each([
    ['before it replaced the files', OLD],
    ['after it replaced the key', ['certificate'] as const],
  ])('completes a run that was killed %s', async (_when, interrupted) => {
    const files = await issue('killed', ['ED25519']);
    await renew(files, ['--percent=100']);
    const renewed = await readValid(files);
    for (const name of interrupted) {
      await rename(files[name], `${files[name]}.new`);
      await rename(`${files[name]}.old`, files[name]);
    }
    const [unused] = await freePorts(1);
    const { status } = await renew(files, [], `http://localhost:${unused}`);
    expect([status, (await readValid(files)).raw]).toEqual([0, renewed.raw]);
  });

  it('keeps the files when the portal cannot be reached or refuses the request', async () => {
    const files = await issue('refused', ['ED25519']);
    const other = await issue('other', ['ED25519']);
    const [unused] = await freePorts(1);
    const results = [
      await renew(files, ['--percent=100'], `http://localhost:${unused}`),
      await renew({ certificate: files.certificate, key: other.key }, []),
    ];
    await revoke(files.certificate);
    results.push(await renew(files, ['--percent=100']));
    expect(results).toEqual([
      { status: 5, stdout: '', stderr: expect.stringMatching(/not reachable/) },
      { status: 4, stdout: '', stderr: expect.stringMatching(/private key/) },
      { status: 2, stdout: '', stderr: expect.stringMatching(/is revoked/) },
    ]);
    await readValid(files);
  });

  /** Revokes a certificate of alice with her ticket. */
  async function revoke(file: string): Promise<void> {
    const { serialNumber } = new X509Certificate(await readFile(file));
    await run(
      'curl',
      [
        ...['--silent', '--show-error', '--fail', '--negotiate', '--user', ':'],
        ...['--data', 'reason=superseded'],
        `${url()}/api/directory/v1/certs/${BigInt(
          `0x${serialNumber}`,
        )}/revocation/`,
      ],
      {
        env: {
          ...process.env,
          KRB5_CONFIG: realm.krb5Config,
          KRB5CCNAME: await realm.ticket('alice'),
        },
      },
    );
  }
});
