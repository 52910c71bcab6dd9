import { CustomErrorBase } from '@backstage/errors';

/** `RemoteRetrieveError` */
const REMOTE_RETRIEVE = 4016;

/** InternalError, NetworkError, HTTPRequestError, DatabaseError. */
const TROUBLE: readonly number[] = [903, 907, REMOTE_RETRIEVE, 4035, 4203];

/** `CertificateOperationError` */
const CERTIFICATE_OPERATION = 4301;

/**
 * Dogtag's verdicts and FreeIPA's failures to reach Dogtag come under one code
 * (`ipaserver/plugins/dogtag.py`, `raise_certificate_operation_error`,
 * `request_certificate`), and up to 4.11 an unknown serial number, too.
 */
const OUT_OF_REACH =
  /status 5\d\d|communicate|connection|connect to|timed? ?out|max retries|remote end|server error|unavailable/i;

/**
 * Whether FreeIPA could not log in to Dogtag, which is down. Each command does
 * so before it changes anything (`ca_show` in `ipaserver/plugins/ca.py`), so
 * nothing was signed or revoked. Up to FreeIPA 4.12 the same code with another
 * text can follow a signature (`ra.request_certificate`).
 */
export function isDogtagDown({ code, text }: RpcError): boolean {
  return code === REMOTE_RETRIEVE && /authenticat|login/i.test(text);
}

/**
 * Whether a server says that it is in trouble, rather than giving a verdict:
 * another may be better off.
 */
export function isServerTrouble({ code, text }: RpcError): boolean {
  return (
    TROUBLE.includes(code) ||
    (code === CERTIFICATE_OPERATION &&
      OUT_OF_REACH.test(text) &&
      !/not found/i.test(text))
  );
}

/** A FreeIPA server gave no verdict on a command. */
export class NoResultError extends CustomErrorBase {
  name = 'NoResultError' as const;

  /** Origin of the server, for example `https://ipa1.example.org`. */
  readonly server: string;
  /** Whether the command may have been carried out all the same. */
  readonly executed: 'no' | 'perhaps';
  /**
   * `unavailable`: it is down, slow or out of reach. `protocol`: it answered
   * what FreeIPA should not. `credentials`: it refuses the gateway's account,
   * and every other server would, too.
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

/** FreeIPA's verdict that a command failed (`ipalib/errors.py`). */
export class RpcError extends CustomErrorBase {
  name = 'RpcError' as const;

  /** For example 4001. */
  readonly code: number;
  /** FreeIPA's own words, for example `alice: user not found`. */
  readonly text: string;
  /** Origin of the server that gave it. */
  readonly server: string;

  constructor(options: {
    readonly code: number;
    readonly text: string;
    readonly server: string;
  }) {
    super(`${options.server} returned ${options.code}: ${options.text}`);
    this.code = options.code;
    this.text = options.text;
    this.server = options.server;
  }
}

/** A FreeIPA server does not know the session, and did nothing. */
export class SessionExpiredError extends CustomErrorBase {
  name = 'SessionExpiredError' as const;
}
