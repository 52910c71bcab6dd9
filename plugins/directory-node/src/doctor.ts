import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Config } from '@backstage/config';
import { isError } from '@backstage/errors';
import type { Database } from './migrateDatabase';

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
  /** Fix for a warning or a failure: commands or configuration keys. */
  readonly fix?: readonly string[];
}

/**
 * The portal checked by `directory-doctor`.
 *
 * @public
 */
export interface DoctorContext {
  /** Root of the configuration. */
  readonly config: Config;
  /** Environment variables of the portal. Default: those of the process. */
  readonly env: NodeJS.ProcessEnv;
  /** Returns whether the backend of the portal loads a package. */
  hasPackage(name: string): boolean;
  /**
   * Connects to the database of the `directory` plugin without creating or
   * migrating it.
   *
   * @returns `undefined` if the database is in memory or does not exist
   * @throws Error when the database cannot be reached
   */
  database(): Promise<Database | undefined>;
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
   * IDs of checks that must run first. If one of them failed, or was skipped
   * because of a failure, this check is skipped.
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
  warn: (message: string, ...fix: readonly string[]): DoctorFinding => ({
    status: 'warn',
    message,
    fix,
  }),
  fail: (message: string, ...fix: readonly string[]): DoctorFinding => ({
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

/** Replaces the code of errors without one, such as timeouts. */
const NO_RESPONSE = 'no response';

/**
 * OpenSSL error codes for certificates that were not issued by a trusted CA.
 */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

/**
 * Explains why a TLS connection to a server failed.
 *
 * @param options - `url`: the server; `caKey`: configuration key of the CA
 *   file; `urlKey`: configuration key of the server
 * @returns the failed step and the finding
 * @public
 */
export function explainConnectionError(
  error: unknown,
  options: {
    readonly url: string;
    readonly urlKey: string;
    readonly caKey: string;
    /** Whether the server accepted the TCP connection. Default: false. */
    readonly isConnected?: boolean;
  },
): {
  readonly step: 'dns' | 'connect' | 'tls';
  readonly finding: DoctorFinding;
} {
  const { host } = new URL(options.url);
  const hostname = nameOf(new URL(options.url));
  const code = codeOf(error);
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
      return {
        step: 'dns',
        finding: finding.fail(
          `The name ${hostname} cannot be resolved (${code})`,
          `correct ${options.urlKey}, or the DNS servers in /etc/resolv.conf: getent hosts ${hostname}`,
        ),
      };
    case 'CERT_HAS_EXPIRED':
      return {
        step: 'tls',
        finding: finding.fail(
          `The certificate of ${host}, or of its CA, has expired`,
          `renew it on ${hostname}: getcert list, then ipa-getcert resubmit -i ID`,
        ),
      };
    case 'CERT_NOT_YET_VALID':
      return {
        step: 'tls',
        finding: finding.fail(
          `The certificate of ${host} is not valid yet`,
          'set the clock of this machine: chronyc makestep',
        ),
      };
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        step: 'tls',
        finding: finding.fail(
          `The certificate of ${host} is for another name`,
          `set ${
            options.urlKey
          } to a name in the certificate: openssl s_client -connect ${hostPort(
            options.url,
          )} </dev/null | openssl x509 -noout -ext subjectAltName`,
        ),
      };
    default:
  }
  if (UNTRUSTED.has(code)) {
    return {
      step: 'tls',
      finding: finding.fail(
        `The certificate of ${host} is not from a CA in ${options.caKey}`,
        `set ${options.caKey} to the CA of ${hostname}; FreeIPA's is /etc/ipa/ca.crt on ${hostname} and on every enrolled machine: copy it over ssh`,
      ),
    };
  }
  if (
    /^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code) ||
    (options.isConnected && code !== NO_RESPONSE)
  ) {
    return {
      step: 'tls',
      finding: finding.fail(
        `The TLS handshake with ${host} failed (${code})`,
        `check the port and the TLS version of ${
          options.urlKey
        }: openssl s_client -connect ${hostPort(options.url)} </dev/null`,
      ),
    };
  }
  return {
    step: 'connect',
    finding: finding.fail(
      `${host} does not accept connections (${code})`,
      `start the server (on ${hostname}: ipactl status, ipactl start), or open its port in the firewall`,
    ),
  };
}

/** Returns the host and the port, for example `localhost:636`. */
function hostPort(url: string): string {
  const { port, protocol } = new URL(url);
  const ports: Record<string, string> = { 'ldap:': '389', 'ldaps:': '636' };
  return `${nameOf(new URL(url))}:${port || (ports[protocol] ?? '443')}`;
}

/** Returns the `code` of an error or of its cause. */
function codeOf(error: unknown): string {
  for (let each = error; isError(each); each = each.cause) {
    if (typeof each.code === 'string') {
      return each.code;
    }
  }
  return NO_RESPONSE;
}

/**
 * Returns the host name for use in commands. DNS may return any characters for
 * a service.
 */
function nameOf({ hostname }: URL): string {
  return /^[\w.-]+$|^\[[\da-f:]+\]$/i.test(hostname) ? hostname : 'HOST';
}
