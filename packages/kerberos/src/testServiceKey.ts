import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KerberosResult } from './KerberosService';
import { splitKeytab } from './keytab';
import { KerberosConfig } from './readKerberosConfig';

/**
 * Why a service cannot get a ticket for itself and accept it.
 *
 * - `kdc_unknown`: neither `krb5.conf` nor DNS names a KDC of the realm
 * - `kdc_unreachable`: no KDC responds
 * - `kdc_failed`: a KDC responds, but cannot read its database
 * - `configuration`: `krb5.conf` is invalid
 * - `principal_unknown`: the KDC does not know the principal
 * - `principal_disabled`: the principal is locked or has expired
 * - `service_unknown`: the KDC does not know the service that clients on this
 *   machine request
 * - `no_key`: the KDC has no key of the principal
 * - `key_mismatch`: the keytab and the KDC have different keys
 * - `encryption_type`: the KDC and this machine have no encryption type in common
 * - `clock_skew`: the clocks of this machine and the KDC differ by more than 5 minutes
 * - `realm_refused`: the realm of the keytab is not the portal's own
 * - `other`
 *
 * @public
 */
export type ServiceKeyFault =
  | 'kdc_unknown'
  | 'kdc_unreachable'
  | 'kdc_failed'
  | 'configuration'
  | 'principal_unknown'
  | 'principal_disabled'
  | 'service_unknown'
  | 'no_key'
  | 'key_mismatch'
  | 'encryption_type'
  | 'clock_skew'
  | 'realm_refused'
  | 'other';

/**
 * The result of {@link testServiceKey}.
 *
 * @public
 */
export type ServiceKeyTest =
  | { outcome: 'accepted' }
  | {
      outcome: 'failed';
      fault: ServiceKeyFault;
      /** The text of the Kerberos library; contains names, never keys. */
      detail: string;
    };

/**
 * Options of {@link testServiceKey}.
 *
 * @public
 */
export interface TestServiceKeyOptions {
  /** `keytab` is required: the file to test. */
  config: KerberosConfig & { readonly keytab: string };
  /** A principal in the keytab, with its realm: `HTTP/portal.example.test@EXAMPLE.TEST`. */
  principal: string;
  /** Host name for which clients request a ticket. */
  host: string;
  /** Environment with `KRB5_CONFIG`. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Timeout in milliseconds, after which the KDC counts as unreachable. */
  timeoutMs: number;
}

/** The output of {@link SCRIPT}. */
type Attempt =
  | { step: 'initiate'; status: string }
  | { step: 'accept'; result: KerberosResult; log: string[] };

/** Gets a ticket from the KDC and passes it to an acceptor. */
const SCRIPT = `
  const [own, binding, json] = process.argv.slice(1);
  // Ends with the parent, also while a KDC does not respond.
  process.stdin.resume().on('close', () => process.kill(process.pid, 'SIGKILL'));
  const { service, principal, config } = JSON.parse(json);
  const print = attempt => {
    process.stdout.write(JSON.stringify(attempt), () => process.exit());
  };
  (async () => {
    const { initializeClient, GSS_MECH_OID_SPNEGO } = require(binding);
    let token;
    try {
      const mechOID = GSS_MECH_OID_SPNEGO;
      const client = await initializeClient(service, { principal, mechOID });
      token = await client.step('');
    } catch (error) {
      print({ step: 'initiate', status: String(error.message ?? error) });
      return;
    }
    const { SpnegoAcceptor } = require(own);
    const log = [];
    const add = line => log.push(line);
    const logger = { debug: add, info() {}, warn: add, error: add };
    const acceptor = await SpnegoAcceptor.create({ ...config, logger });
    const result = await acceptor.accept('Negotiate ' + token);
    print({ step: 'accept', result, log });
  })();
`;

/**
 * Gets a ticket for a service with the service's own keytab and accepts it,
 * which proves that the KDC responds, knows the principal and has the same key,
 * and that the clocks agree. Runs in a child process, because the Kerberos
 * library reads keytabs and caches from the environment and blocks while a KDC
 * does not respond.
 *
 * The library logs in with the key of the highest version, but accepts tickets
 * with every key. FreeIPA starts with version 1 again after
 * `ipa service-disable`: if the KDC has another key, the other keys are tried,
 * with temporary copies. Nothing else is written to disk except the replay
 * cache.
 *
 * @public
 */
export async function testServiceKey(
  options: TestServiceKeyOptions,
): Promise<ServiceKeyTest> {
  const { keytab } = options.config;
  const test = await testWith(keytab, options);
  if (test.outcome === 'accepted' || test.fault !== 'key_mismatch') {
    return test;
  }
  const sets = splitKeytab(await readFile(keytab), options.principal);
  const folder = await mkdtemp(join(tmpdir(), 'service-key-'));
  try {
    for (const set of sets.length > 1 ? sets : []) {
      const copy = join(folder, 'keytab');
      await writeFile(copy, set, { mode: 0o600 });
      const other = await testWith(copy, options);
      if (other.outcome === 'accepted') {
        return other;
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return test;
}

/** Gets a ticket with the keys in a file. */
async function testWith(
  clientKeytab: string,
  options: TestServiceKeyOptions,
): Promise<ServiceKeyTest> {
  const { config, principal, host, timeoutMs } = options;
  const env: NodeJS.ProcessEnv = {
    ...(options.env ?? process.env),
    KRB5_CLIENT_KTNAME: `FILE:${clientKeytab}`,
    KRB5CCNAME: 'MEMORY:self-test',
    KRB5_KTNAME: undefined,
    // These options may print to standard output.
    KRB5_TRACE: undefined,
    NODE_OPTIONS: undefined,
  };
  const own = require.resolve('@directory-gateway/kerberos');
  // Runs from sources in the repository of this package.
  const loader = own.endsWith('.ts')
    ? [
        '--require',
        require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
      ]
    : [];
  const request = { service: `HTTP@${host}`, principal, config };
  const args = [own, require.resolve('kerberos'), JSON.stringify(request)];
  const attempt = await new Promise<Attempt | Error>(resolve => {
    execFile(
      process.execPath,
      [...loader, '--eval', SCRIPT, ...args],
      {
        env,
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
      },
      (error, stdout) => resolve(error ?? parse(stdout)),
    );
  });
  if (!('step' in attempt)) {
    return 'killed' in attempt && attempt.killed
      ? failed('kdc_unreachable', `no response within ${timeoutMs} ms`)
      : failed('other', 'the test process failed');
  }
  return attempt.step === 'initiate'
    ? failed(faultOf(attempt.status), attempt.status)
    : interpret(attempt);
}

function parse(output: string): Attempt | Error {
  try {
    return JSON.parse(output);
  } catch (error) {
    return error as Error;
  }
}

/** Faults by the reasons for which the acceptor refuses a ticket. */
const REFUSALS: Partial<Record<string, ServiceKeyFault>> = {
  clock_skew: 'clock_skew',
  realm_refused: 'realm_refused',
  unknown_service_key: 'key_mismatch',
};

function interpret({
  result,
  log,
}: Attempt & { step: 'accept' }): ServiceKeyTest {
  const detail = log.at(-1) ?? result.outcome;
  switch (result.outcome) {
    case 'accepted':
      return { outcome: 'accepted' };
    case 'refused':
      return failed(REFUSALS[result.reason] ?? 'other', detail);
    default:
      return failed('other', detail);
  }
}

/** Texts of MIT krb5 (`lib/krb5/error_tables`, `lib/krb5/krb`), in English for every `LANG`. */
const FAULTS: readonly (readonly [RegExp, ServiceKeyFault])[] = [
  [/Cannot contact any KDC/, 'kdc_unreachable'],
  [/Cannot (?:find|resolve network address for) KDC/, 'kdc_unknown'],
  [
    /Generic error|KDC returned error string|service is not available/,
    'kdc_failed',
  ],
  [/Kerberos configuration file|Included profile|profile/i, 'configuration'],
  [/Client '?[^']*'? not found in Kerberos database/, 'principal_unknown'],
  [/Can't find client principal/, 'principal_unknown'],
  [/have been revoked|has expired|KDC policy rejects/, 'principal_disabled'],
  [/Server \S+ not found in Kerberos database/, 'service_unknown'],
  // A KDC without a key offers no means of preauthentication.
  [/Generic preauthentication failure|has a null key/, 'no_key'],
  [/Preauthentication failed|integrity check failed/, 'key_mismatch'],
  [/encryption type|Bad encryption/i, 'encryption_type'],
  [/Clock skew too great|Ticket not yet valid/, 'clock_skew'],
];

function faultOf(status: string): ServiceKeyFault {
  return FAULTS.find(([text]) => text.test(status))?.[1] ?? 'other';
}

function failed(fault: ServiceKeyFault, status: string): ServiceKeyTest {
  return {
    outcome: 'failed',
    fault,
    detail: status
      .replace(/^.*(?:unavailable or inaccessible|more information): /, '')
      .replace(/^The Kerberos library reports: /, '')
      .replace(/\. Until this is fixed, .*$/, '')
      .replace(/[^\x20-\x7e]/g, '?'),
  };
}
