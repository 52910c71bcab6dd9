import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  NoResultError,
  RpcError,
  isDogtagDown,
  isServerFailure,
} from './rpc/errors';

/** Meaning of a failed `cert_request`. */
export type SigningFailure =
  /** Nothing was signed. */
  | { readonly state: 'final'; readonly error: Error }
  /** A certificate may exist. */
  | {
      readonly state: 'unknown';
      /**
       * Whether FreeIPA has finished, so that a later search cannot find more.
       */
      readonly finished: boolean;
      readonly error: Error;
      /** Origin of the server that received the request, if known. */
      readonly server?: string;
    };

/**
 * 4001 is NotFound, 4005 a ValidationError for the realm, 4034 for the type of
 * principal; 3xxx are invocation errors: an option, a conversion, the CSR's
 * names.
 */
const isInvalid = (code: number) =>
  (code >= 3000 && code < 4000) || [4001, 4005, 4034].includes(code);

/**
 * Errors before execution: 904 version, 905 command, 909 JSON, 911 `Referer`.
 */
const isBeforeCommand = (code: number) => [904, 905, 909, 911].includes(code);

const ACI_ERROR = 2100;
const CERTIFICATE_OPERATION_ERROR = 4301;

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

/** Permissions by the operation in FreeIPA's message (`VirtualCommand`). */
const PERMISSIONS: Readonly<Record<string, string>> = {
  'request certificate': 'Request Certificate',
  'retrieve certificate': 'Retrieve Certificates from the CA',
  'revoke certificate': 'Revoke Certificate',
  'certificate remove hold': 'Certificate Remove Hold',
};

/** Returns the error if the gateway's account may not perform an operation. */
function missingPermission(
  error: RpcError,
): MissingPermissionError | undefined {
  const operation = /not allowed to perform operation: ([a-z ]*[a-z])/i.exec(
    error.text,
  )?.[1];
  return error.code === ACI_ERROR && operation !== undefined
    ? new MissingPermissionError(PERMISSIONS[operation] ?? operation, error)
    : undefined;
}

/**
 * Whether `cert_request` failed because the gateway's account may not write the
 * certificates of the user.
 */
export function isUserReadOnly({ code, text }: RpcError): boolean {
  return code === ACI_ERROR && /'userCertificate' attribute/i.test(text);
}

/**
 * FreeIPA lost the connection to Dogtag, which may continue: 4301, or 907
 * (NetworkError).
 */
const isDogtagLost = (code: number) =>
  code === CERTIFICATE_OPERATION_ERROR || code === 907;

/** 4001 for a missing CA, which is not the caller's error. */
const NO_SUCH_CA = /CA is not configured|Certificate Authority not found/i;

/**
 * Classifies an error of `cert_request`. A certificate may exist after an
 * invalid result, and after any error except those that FreeIPA raises before
 * it signs: afterwards, it writes the certificate to the user's entry, which
 * can fail, too (`ipaserver/plugins/cert.py`, `cert_request.execute`).
 */
export function classifySigningError(error: unknown): SigningFailure {
  if (error instanceof RpcError) {
    return classifyRpcError(error);
  }
  if (error instanceof AuthorityProtocolError) {
    return { state: 'unknown', finished: true, error };
  }
  if (!(error instanceof NoResultError)) {
    throw error;
  }
  return error.executed === 'perhaps'
    ? { state: 'unknown', finished: false, error, server: error.server }
    : { state: 'final', error: noResult(error) };
}

function classifyRpcError(error: RpcError): SigningFailure {
  const { code, text } = error;
  if (isBeforeCommand(code) || (code === 4001 && NO_SUCH_CA.test(text))) {
    return {
      state: 'final',
      error: new AuthorityProtocolError(error.message),
    };
  }
  if (isDogtagDown(error)) {
    return {
      state: 'final',
      error: new AuthorityUnavailableError(error.message),
    };
  }
  if (code === ACI_ERROR) {
    return {
      state: 'final',
      error: missingPermission(error) ?? denial('forbidden', text),
    };
  }
  const isDecided =
    code === CERTIFICATE_OPERATION_ERROR && !isServerFailure(error);
  if (isDecided || isInvalid(code)) {
    return { state: 'final', error: denial('invalid', text) };
  }
  const finished = !isDogtagLost(code);
  return { state: 'unknown', finished, error, server: error.server };
}

/**
 * Classifies an error of `cert_show`, `cert_find`, `cert_revoke` or
 * `cert_remove_hold`. Access is denied to the gateway's account, never to the
 * caller.
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
  if (isUnknownSerial(error)) {
    return undefined;
  }
  if (isCaUnavailable(error)) {
    return new AuthorityUnavailableError(error.message);
  }
  if (error.code === ACI_ERROR) {
    return (
      missingPermission(error) ?? new AuthorityUnavailableError(error.message)
    );
  }
  return [3005, 3007, 3008, 3009, 4005, 4034].includes(error.code)
    ? denial('invalid', error.text)
    : new AuthorityProtocolError(error.message);
}

function noResult({ fault, message }: NoResultError): Error {
  return fault === 'protocol'
    ? new AuthorityProtocolError(message)
    : new AuthorityUnavailableError(message);
}

/**
 * Whether the certificate does not exist: 4001 since FreeIPA 4.12, 4301 with
 * Dogtag's message before; 3008 or 3009 for a number that FreeIPA never
 * assigns: 0, or one that is too long (`SerialNumber` in
 * `ipalib/parameters.py`).
 */
function isUnknownSerial({ code, text }: RpcError): boolean {
  switch (code) {
    case 4001:
      return !NO_SUCH_CA.test(text);
    case CERTIFICATE_OPERATION_ERROR:
      return /not found/i.test(text);
    case 3008:
    case 3009:
      return /serial/i.test(text);
    default:
      return false;
  }
}

/**
 * 907 is FreeIPA's NetworkError. When Dogtag is down, Apache responds with 503
 * instead, which FreeIPA includes in the text of 4301 (`get_certificate` and
 * `find` in `ipaserver/plugins/dogtag.py`).
 */
function isCaUnavailable(error: RpcError): boolean {
  const { code, text } = error;
  return (
    isDogtagDown(error) ||
    code === 907 ||
    (code === CERTIFICATE_OPERATION_ERROR && /\b503\b/.test(text))
  );
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
function denial(
  kind: 'invalid' | 'forbidden',
  text: string,
): AuthorityRefusalError {
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
