import { CustomErrorBase } from '@backstage/errors';

/** `RemoteRetrieveError` */
const REMOTE_RETRIEVE = 4016;

/** InternalError, NetworkError, HTTPRequestError, DatabaseError. */
const SERVER_FAILURES: readonly number[] = [
  903,
  907,
  REMOTE_RETRIEVE,
  4035,
  4203,
];

/** `CertificateOperationError` */
const CERTIFICATE_OPERATION = 4301;

/**
 * Decisions by Dogtag and failures to connect to it have the same code
 * (`ipaserver/plugins/dogtag.py`, `raise_certificate_operation_error`,
 * `request_certificate`); up to 4.11, an unknown serial number also has this
 * code.
 */
const CONNECTION_FAILURE =
  /status 5\d\d|communicate|connection|connect to|timed? ?out|max retries|remote end|server error|unavailable/i;

/** FreeIPA's error for a failed command (`ipalib/errors.py`). */
export class RpcError extends CustomErrorBase {
  name = 'RpcError' as const;

  /** For example 4001. */
  readonly code: number;
  /** FreeIPA's message, for example `alice: user not found`. */
  readonly text: string;
  /** Origin of the server. */
  readonly server: string;

  constructor(options: Pick<RpcError, 'code' | 'text' | 'server'>) {
    super(`${options.server} returned ${options.code}: ${options.text}`);
    this.code = options.code;
    this.text = options.text;
    this.server = options.server;
  }
}

/** A FreeIPA server returned no result for a command. */
export class NoResultError extends CustomErrorBase {
  name = 'NoResultError' as const;

  /** Origin of the server, for example `https://ipa1.example.org`. */
  readonly server: string;
  /** Whether the command may have been executed. */
  readonly executed: 'no' | 'perhaps';
  /**
   * `unavailable`: the server is down, slow or unreachable. `protocol`: the
   * response is invalid. `credentials`: FreeIPA rejects the gateway's account,
   * on every server.
   */
  readonly fault: 'unavailable' | 'protocol' | 'credentials';

  constructor(
    message: string,
    options: Pick<NoResultError, 'server' | 'executed' | 'fault'> & {
      readonly cause?: unknown;
    },
  ) {
    super(`${options.server}: ${message}`, options.cause);
    this.server = options.server;
    this.executed = options.executed;
    this.fault = options.fault;
  }
}

/**
 * A FreeIPA server does not know the session, and did not execute the command.
 */
export class SessionExpiredError extends CustomErrorBase {
  name = 'SessionExpiredError' as const;
}

/**
 * Whether FreeIPA could not log in to Dogtag, which is down. Each command logs
 * in to Dogtag before it changes anything (`ca_show` in
 * `ipaserver/plugins/ca.py`), so nothing was signed or revoked. Up to FreeIPA
 * 4.12 the same code with another message can follow a signature
 * (`ra.request_certificate`).
 */
export function isDogtagDown({ code, text }: RpcError): boolean {
  return code === REMOTE_RETRIEVE && /authenticat|login/i.test(text);
}

/**
 * Whether Dogtag refused to revoke a certificate because of its state: it is
 * revoked or on hold. FreeIPA returns this as 4301, or since it uses Dogtag's
 * REST interface as 4035 with status 400.
 */
export function isAlreadyRevoked({ text }: Pick<RpcError, 'text'>): boolean {
  return /already (?:been )?revoked/i.test(text);
}

/**
 * Whether the server failed rather than decided, so that another server may
 * succeed.
 */
export function isServerFailure({ code, text }: RpcError): boolean {
  if (isAlreadyRevoked({ text })) {
    return false;
  }
  return (
    SERVER_FAILURES.includes(code) ||
    (code === CERTIFICATE_OPERATION &&
      CONNECTION_FAILURE.test(text) &&
      !/not found/i.test(text))
  );
}
