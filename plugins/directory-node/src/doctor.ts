import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Config } from '@backstage/config';
import { isError } from '@backstage/errors';

/**
 * The result of a check of `directory-doctor`.
 *
 * - `ok`: nothing to do
 * - `warn`: works with a restriction or a risk
 * - `fail`: something does not work
 * - `skip`: not configured, or not possible until another check succeeds
 *
 * @public
 */
export interface DoctorFinding {
  /** Result of the check. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  /**
   * One sentence without a period. Never contains a secret. `directory-doctor`
   * replaces control characters, which server messages may contain.
   */
  readonly message: string;
  /** Fix for a warning or a failure: a command, or a key of the configuration. */
  readonly fix?: string;
}

/**
 * The portal checked by `directory-doctor`.
 *
 * @public
 */
export interface DoctorContext {
  /** Root of the configuration. */
  readonly config: Config;
  /** Environment variables of the portal. */
  readonly env: NodeJS.ProcessEnv;
  /** Maximum time for the response of a server, in milliseconds. */
  readonly responseMs: number;
}

/**
 * A check of `directory-doctor`. Packages add checks with an entry point
 * `./doctor` that exports an array `doctorChecks`.
 *
 * @public
 */
export interface DoctorCheck {
  /** ID of the check, in kebab case. */
  readonly id: string;
  /**
   * IDs of earlier checks that must run first. If one of them failed, or was
   * skipped because of a failure, this check is skipped.
   */
  readonly after?: readonly string[];
  /**
   * Runs the check. A thrown error is a failure with the message of the error.
   */
  run(context: DoctorContext): Promise<DoctorFinding>;
}

/**
 * Functions that create findings.
 *
 * @public
 */
export const finding = {
  ok: (message: string): DoctorFinding => ({ status: 'ok', message }),
  skip: (message: string): DoctorFinding => ({ status: 'skip', message }),
  warn: (message: string, fix: string): DoctorFinding => ({
    status: 'warn',
    message,
    fix,
  }),
  fail: (message: string, fix: string): DoctorFinding => ({
    status: 'fail',
    message,
    fix,
  }),
};

/**
 * A logger without output, for components whose failures become findings.
 *
 * @public
 */
export const silentLogger: LoggerService = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/** Configuration keys of a server, for messages. */
interface ServerKeys {
  /** Key of the server's URL. */
  readonly urlKey: string;
  /** Key of the file with the trusted CA. */
  readonly caKey: string;
}

/**
 * Problem and fix by error code of Node.js or OpenSSL; the first row that
 * matches applies.
 */
const CONNECTION_ERRORS: readonly [
  code: RegExp,
  problem: string,
  fix: (keys: ServerKeys) => string,
][] = [
  [
    /^(?:ENOTFOUND|EAI_\w+)$/,
    'its name cannot be resolved',
    ({ urlKey }) => `correct ${urlKey}, or the DNS servers in /etc/resolv.conf`,
  ],
  [
    /^CERT_HAS_EXPIRED$/,
    'its certificate, or that of its CA, has expired',
    () =>
      'renew it on the server: getcert list, then ipa-getcert resubmit -i ID',
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    'its certificate is not valid yet',
    () => 'set the clock of this machine: chronyc makestep',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'its certificate is for another name',
    ({ urlKey }) => `set ${urlKey} to a name in the certificate`,
  ],
  [
    /SELF_SIGNED|^UNABLE_TO|^CERT_/,
    'its certificate is not from a trusted CA',
    ({ caKey }) =>
      `set ${caKey} to the CA of the server; FreeIPA's is /etc/ipa/ca.crt on every enrolled machine`,
  ],
  [
    /^(?:ERR_SSL|ERR_TLS|EPROTO)/,
    'the TLS handshake failed',
    ({ urlKey }) => `correct the port or the scheme in ${urlKey}`,
  ],
  [
    /^/,
    'it does not accept connections',
    () =>
      'start the server (FreeIPA: ipactl status, ipactl start), or open its port in the firewall',
  ],
];

/**
 * Explains why a connection to a server failed.
 *
 * @param error - an error of Node.js, or one that it has caused
 * @param options - `url`: the server; `caKey`: configuration key of the CA
 *   file; `urlKey`: configuration key of the server
 * @public
 */
export function explainConnectionError(
  error: unknown,
  options: {
    readonly url: string;
    readonly urlKey: string;
    readonly caKey: string;
  },
): DoctorFinding {
  const code = codeOf(error) ?? 'no response';
  const [, problem, fix] = CONNECTION_ERRORS.find(([pattern]) =>
    pattern.test(code),
  )!;
  const { host } = new URL(options.url);
  return finding.fail(`${host}: ${problem} (${code})`, fix(options));
}

/** Returns the `code` of an error or of its cause. */
function codeOf(error: unknown): string | undefined {
  if (!isError(error)) {
    return undefined;
  }
  return typeof error.code === 'string' ? error.code : codeOf(error.cause);
}
