import { CustomErrorBase } from '@backstage/errors';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
} from '@directory-gateway/backstage-plugin-directory-node';

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

  /** Origin of the server. */
  readonly server: string;
  /**
   * `unreachable`: there is no connection. `unavailable`: the server is down or
   * slow. `protocol`: the response is invalid. `session`: the server does not
   * know the session. `credentials`: FreeIPA rejects the gateway's account, on
   * every server.
   */
  readonly fault:
    'unreachable' | 'unavailable' | 'protocol' | 'session' | 'credentials';
  /** Whether the command may have been executed. */
  executed: 'no' | 'perhaps';

  /** @param options - `executed`: default: `no` */
  constructor(
    text: string,
    options: Pick<NoResultError, 'server' | 'fault'> & {
      readonly executed?: 'no' | 'perhaps';
      readonly cause?: unknown;
    },
  ) {
    super(`${options.server}: ${text}`, options.cause);
    this.server = options.server;
    this.fault = options.fault;
    this.executed = options.executed ?? 'no';
  }
}

/**
 * Thrown when the gateway's account lacks a FreeIPA permission, which an
 * administrator must grant.
 */
export class MissingPermissionError extends AuthorityUnavailableError {
  constructor(permission: string, cause: RpcError) {
    super(
      `The gateway's account needs the FreeIPA permission "${permission}": ${cause.message}`,
    );
  }
}

/** Meaning of an error code of FreeIPA (`ipalib/errors.py`). */
type Meaning =
  /** FreeIPA did not run the command, or has no CA: an error of this module. */
  | 'misused'
  /** FreeIPA could not log in to Dogtag, which is down; nothing was changed. */
  | 'dogtagDown'
  /** FreeIPA lost the connection to Dogtag, which may continue. */
  | 'dogtagLost'
  /** Access is denied. */
  | 'denied'
  /** The entry or the certificate does not exist. */
  | 'notFound'
  /** An option, the names in the CSR or the principal is invalid. */
  | 'invalid'
  /** Dogtag decided against the command. */
  | 'rejected'
  /** Dogtag does not revoke a certificate that is revoked or on hold. */
  | 'alreadyRevoked'
  /** The server failed, possibly after the change. */
  | 'failed'
  /** Any other error, which all servers return, possibly after the change. */
  | 'other';

/** The first row with the code and the text of an error applies. */
const MEANINGS: readonly [Meaning, readonly number[], RegExp?][] = [
  ['misused', [904, 905, 909, 911]], // version, command, JSON, `Referer`
  ['misused', [4001], /CA is not configured|Certificate Authority not found/i],
  // FreeIPA logs in to Dogtag before each change (`ca_show`). Up to 4.12, other
  // messages with this code can follow a signature (`ra.request_certificate`).
  ['dogtagDown', [4016], /authenticat|login/i],
  ['denied', [2100]],
  // An unknown serial number is 4001 since FreeIPA 4.12, and 4301 before; 0 and
  // numbers that are too long are 3008 or 3009.
  ['notFound', [4001]],
  ['notFound', [4301], /not found/i],
  ['notFound', [3008, 3009], /serial/i],
  ['invalid', [4005, 4034]], // the realm or the type of the principal
  // 4035 since FreeIPA uses Dogtag's REST interface.
  ['alreadyRevoked', [4301, 4035], /already (?:been )?revoked/i],
  ['dogtagLost', [907]],
  // Dogtag's decisions and failures to connect to it have the same code
  // (`ipaserver/plugins/dogtag.py`).
  [
    'dogtagLost',
    [4301],
    /status 5\d\d|communicate|connection|connect to|timed? ?out|max retries|remote end|server error|unavailable/i,
  ],
  ['rejected', [4301]],
  ['failed', [903, 4016, 4035, 4203]],
];

function meaningOf({ code, text }: RpcError): Meaning {
  const row = MEANINGS.find(
    ([, codes, pattern]) =>
      codes.includes(code) && (pattern?.test(text) ?? true),
  );
  return row?.[0] ?? (code >= 3000 && code < 4000 ? 'invalid' : 'other');
}

/**
 * Returns why the server failed to run a command, so that another server may
 * succeed; `undefined` when it decided.
 */
export function failureIn(
  error: unknown,
): Pick<NoResultError, 'executed' | 'fault' | 'message'> | undefined {
  if (!(error instanceof RpcError)) {
    return error instanceof NoResultError ? error : undefined;
  }
  const { message } = error;
  switch (meaningOf(error)) {
    case 'dogtagDown':
      return { executed: 'no', fault: 'unavailable', message };
    case 'dogtagLost':
    case 'failed':
      return { executed: 'perhaps', fault: 'protocol', message };
    default:
      return undefined;
  }
}

/** Whether Dogtag refused to revoke a certificate that is revoked or on hold. */
export function isAlreadyRevoked(error: unknown): boolean {
  return error instanceof RpcError && meaningOf(error) === 'alreadyRevoked';
}

/** Whether the gateway's account may not write the certificates of the user. */
export function isUserReadOnly(error: unknown): error is RpcError {
  return (
    error instanceof RpcError &&
    meaningOf(error) === 'denied' &&
    /'userCertificate' attribute/i.test(error.text)
  );
}

/** Meaning of a failed `cert_request`. */
export interface SigningFailure {
  /**
   * `no`: nothing was signed. `perhaps`: a certificate may exist, and a later
   * search does not find more. `pending`: FreeIPA may still be signing.
   */
  readonly signed: 'no' | 'perhaps' | 'pending';
  readonly error: Error;
  /** Origin of the server that received the request, if known. */
  readonly server?: string;
}

/**
 * Classifies an error of `cert_request`. A certificate may exist after an
 * invalid result, and after any error except those that FreeIPA raises before
 * it signs: afterwards, it writes the certificate to the user's entry, which
 * can fail, too (`ipaserver/plugins/cert.py`, `cert_request.execute`).
 */
export function classifySigningError(error: unknown): SigningFailure {
  if (error instanceof AuthorityProtocolError) {
    return { signed: 'perhaps', error };
  }
  if (error instanceof NoResultError) {
    return error.executed === 'no'
      ? { signed: 'no', error: noResult(error) }
      : { signed: 'pending', error, server: error.server };
  }
  if (!(error instanceof RpcError)) {
    throw error;
  }
  const { text, message, server } = error;
  switch (meaningOf(error)) {
    case 'misused':
      return { signed: 'no', error: new AuthorityProtocolError(message) };
    case 'dogtagDown':
      return { signed: 'no', error: new AuthorityUnavailableError(message) };
    case 'denied':
      return {
        signed: 'no',
        error: missingPermission(error) ?? refusal('forbidden', text),
      };
    case 'dogtagLost':
      return { signed: 'pending', error, server };
    case 'failed':
    case 'other':
      return { signed: 'perhaps', error, server };
    default:
      return { signed: 'no', error: refusal('invalid', text) };
  }
}

/**
 * Classifies an error of a command other than `cert_request`. Access is denied
 * to the gateway's account, never to the caller. When Dogtag is down, Apache
 * may respond with 503, which FreeIPA includes in the text.
 *
 * @returns the error to throw; `undefined` when FreeIPA does not have the
 *   certificate
 */
export function classifyReadError(error: unknown): Error | undefined {
  if (error instanceof NoResultError) {
    return noResult(error);
  }
  if (!(error instanceof RpcError)) {
    throw error;
  }
  const { code, text, message } = error;
  switch (meaningOf(error)) {
    case 'notFound':
      return undefined;
    case 'denied':
    case 'dogtagDown':
      return missingPermission(error) ?? new AuthorityUnavailableError(message);
    case 'dogtagLost':
      return code === 907 || /\b503\b/.test(text)
        ? new AuthorityUnavailableError(message)
        : new AuthorityProtocolError(message);
    case 'invalid':
      return refusal('invalid', text);
    default:
      return new AuthorityProtocolError(message);
  }
}

/** Permissions by the operation in FreeIPA's message (`VirtualCommand`). */
const PERMISSIONS: Readonly<Record<string, string>> = {
  'request certificate': 'Request Certificate',
  'retrieve certificate': 'Retrieve Certificates from the CA',
  'revoke certificate': 'Revoke Certificate',
  'certificate remove hold': 'Certificate Remove Hold',
};

/** Returns the error if the gateway's account may not perform an operation. */
function missingPermission(error: RpcError): Error | undefined {
  const [, operation] =
    /not allowed to perform operation: ([a-z ]*[a-z])/i.exec(error.text) ?? [];
  return operation !== undefined
    ? new MissingPermissionError(PERMISSIONS[operation] ?? operation, error)
    : undefined;
}

function noResult({ fault, message }: NoResultError): Error {
  return fault === 'protocol' || fault === 'session'
    ? new AuthorityProtocolError(message)
    : new AuthorityUnavailableError(message);
}

/** Internal details in FreeIPA's messages. */
const INTERNAL = [
  /\b(?:cn|dc|o|ou|uid|fqdn|krbprincipalname)=/i, // distinguished names
  /\bhttps?:|\bhost=|\bport=|\/ca\//i, // addresses of servers
  /\b(?:java|javax|org|com|netscape)\.[a-z]+\.|\bat [\w.]+\(/, // Java traces
  /[^\P{C}]/u, // control characters, line breaks
];

const MAX_MESSAGE_LENGTH = 500;

/**
 * Creates the error for the caller: with FreeIPA's message, unless it contains
 * internal details.
 */
function refusal(kind: 'invalid' | 'forbidden', text: string): Error {
  const isPublic =
    text !== '' &&
    text.length <= MAX_MESSAGE_LENGTH &&
    !INTERNAL.some(pattern => pattern.test(text));
  const fallback =
    kind === 'forbidden'
      ? 'FreeIPA does not permit this certificate.'
      : 'FreeIPA refuses this certificate request.';
  return new AuthorityRefusalError(isPublic ? text : fallback, { kind });
}
