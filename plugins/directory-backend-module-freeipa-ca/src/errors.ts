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

const ACI_ERROR = 2100;
const NOT_FOUND = 4001;
const NETWORK_ERROR = 907;
const REMOTE_RETRIEVE_ERROR = 4016;
const CERTIFICATE_OPERATION_ERROR = 4301;

/** Errors before execution: version, command, JSON, `Referer`. */
const BEFORE_COMMAND: readonly number[] = [904, 905, 909, 911];

/** InternalError, HTTPRequestError, DatabaseError and others. */
const SERVER_FAILURES: readonly number[] = [
  ...[903, 4035, 4203],
  ...[NETWORK_ERROR, REMOTE_RETRIEVE_ERROR],
];

/**
 * Decisions by Dogtag and failures to connect to it have the same code
 * (`ipaserver/plugins/dogtag.py`, `raise_certificate_operation_error`,
 * `request_certificate`); up to 4.11, an unknown serial number also has this
 * code.
 */
const CONNECTION_FAILURE =
  /status 5\d\d|communicate|connection|connect to|timed? ?out|max retries|remote end|server error|unavailable/i;

/** Whether FreeIPA returned an error with a code and a text. */
function matches(error: unknown, code: number, text: RegExp): boolean {
  return (
    error instanceof RpcError && error.code === code && text.test(error.text)
  );
}

/** A missing CA is not the caller's error. */
const isCaMissing = (error: RpcError) =>
  matches(
    error,
    NOT_FOUND,
    /CA is not configured|Certificate Authority not found/i,
  );

/**
 * Whether FreeIPA could not log in to Dogtag, which is down. Each command logs
 * in to Dogtag before it changes anything (`ca_show` in
 * `ipaserver/plugins/ca.py`), so nothing was signed or revoked. Up to FreeIPA
 * 4.12 the same code with another message can follow a signature
 * (`ra.request_certificate`).
 */
export const isDogtagDown = (error: RpcError) =>
  matches(error, REMOTE_RETRIEVE_ERROR, /authenticat|login/i);

/**
 * Whether Dogtag refused to revoke a certificate because of its state: it is
 * revoked or on hold. FreeIPA returns this as 4301, or since it uses Dogtag's
 * REST interface as 4035 with status 400.
 */
export const isAlreadyRevoked = (error: unknown) =>
  error instanceof RpcError && /already (?:been )?revoked/i.test(error.text);

/** Whether the gateway's account may not write the certificates of the user. */
export const isUserReadOnly = (error: RpcError) =>
  matches(error, ACI_ERROR, /'userCertificate' attribute/i);

/**
 * Whether no CA ACL permits the profile. FreeIPA checks the CA ACLs first, and
 * these do not permit a profile that does not exist either.
 */
export const isProfileDenied = (error: RpcError) =>
  matches(error, ACI_ERROR, /\bprofile\b/i);

/** Whether an error is NotFound for a profile, not for a principal or a CA. */
export const isProfileNotFound = (error: unknown) =>
  matches(error, NOT_FOUND, /Certificate Profile not found/i);

/**
 * Whether the server failed rather than decided, so that another server may
 * succeed.
 */
export function isServerFailure(error: RpcError): boolean {
  return (
    !isAlreadyRevoked(error) &&
    (SERVER_FAILURES.includes(error.code) ||
      (matches(error, CERTIFICATE_OPERATION_ERROR, CONNECTION_FAILURE) &&
        !/not found/i.test(error.text)))
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
  const decision = readDecision(error);
  if (decision) {
    return { signed: 'no', error: decision };
  }
  // FreeIPA lost the connection to Dogtag, which may continue.
  const { code, server } = error;
  const isLost = code === CERTIFICATE_OPERATION_ERROR || code === NETWORK_ERROR;
  return { signed: isLost ? 'pending' : 'perhaps', error, server };
}

/** Returns the error to throw if FreeIPA has certainly signed nothing. */
function readDecision(error: RpcError): Error | undefined {
  const { code, text, message } = error;
  if (isDogtagDown(error)) {
    return new AuthorityUnavailableError(message);
  }
  if (BEFORE_COMMAND.includes(code) || isCaMissing(error)) {
    return new AuthorityProtocolError(message);
  }
  if (code === ACI_ERROR) {
    return missingPermission(error) ?? refusal('forbidden', text);
  }
  const isRefused =
    code === CERTIFICATE_OPERATION_ERROR
      ? !isServerFailure(error)
      : isInvocationError(code) || code === NOT_FOUND;
  return isRefused ? refusal('invalid', text) : undefined;
}

/**
 * Classifies an error of a command other than `cert_request`. Access is denied
 * to the gateway's account, never to the caller. When Dogtag is down, Apache
 * responds with 503, which FreeIPA includes in the text of 4301
 * (`ipaserver/plugins/dogtag.py`).
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
  if (isUnknownSerial(error)) {
    return undefined;
  }
  if (
    [ACI_ERROR, NETWORK_ERROR].includes(code) ||
    isDogtagDown(error) ||
    matches(error, CERTIFICATE_OPERATION_ERROR, /\b503\b/)
  ) {
    return missingPermission(error) ?? new AuthorityUnavailableError(message);
  }
  return isInvocationError(code)
    ? refusal('invalid', text)
    : new AuthorityProtocolError(message);
}

/**
 * An option, a conversion or the names in the CSR; the realm (4005) or the type
 * (4034) of the principal.
 */
function isInvocationError(code: number): boolean {
  return (code >= 3000 && code < 4000) || code === 4005 || code === 4034;
}

/**
 * Whether the certificate does not exist: 4001 since FreeIPA 4.12, 4301 with
 * Dogtag's message before; 3008 or 3009 for a number that FreeIPA never
 * assigns: 0, or one that is too long (`SerialNumber` in
 * `ipalib/parameters.py`).
 */
function isUnknownSerial(error: RpcError): boolean {
  return (
    (error.code === NOT_FOUND && !isCaMissing(error)) ||
    matches(error, CERTIFICATE_OPERATION_ERROR, /not found/i) ||
    matches(error, 3008, /serial/i) ||
    matches(error, 3009, /serial/i)
  );
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
  return error.code === ACI_ERROR && operation !== undefined
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
