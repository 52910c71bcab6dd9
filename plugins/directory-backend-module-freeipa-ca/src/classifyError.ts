import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  NoResultError,
  RpcError,
  isDogtagDown,
  isServerTrouble,
} from './rpc/errors';

/** What a failed `cert_request` means. */
export type SigningFailure =
  /** Nothing was signed. */
  | { readonly state: 'settled'; readonly error: Error }
  /**
   * A certificate may exist. `finished`: FreeIPA is done with the request, so
   * that there is none if there is none now.
   */
  | {
      readonly state: 'open';
      readonly finished: boolean;
      readonly error: Error;
      /** Origin of the server that had the request, if it is known. */
      readonly server?: string;
    };

/**
 * 4001 NotFound, 4005 ValidationError of the realm, 4034 of the kind of
 * principal; 3xxx are invocation errors: an option, a conversion, the CSR's
 * names.
 */
const isInvalid = (code: number) =>
  (code >= 3000 && code < 4000) || [4001, 4005, 4034].includes(code);

/** 904 version, 905 command, 909 JSON, 911 `Referer`: not a step was taken. */
const isBeforeCommand = (code: number) => [904, 905, 909, 911].includes(code);

const ACI_ERROR = 2100;
const CERTIFICATE_OPERATION_ERROR = 4301;

/** FreeIPA lost Dogtag, which may go on: 4301 or 907, NetworkError. */
const isDogtagLost = (code: number) =>
  code === CERTIFICATE_OPERATION_ERROR || code === 907;

/** 4001 also says that FreeIPA has no such CA, which no caller can help. */
export const NO_SUCH_CA =
  /CA is not configured|Certificate Authority not found/i;

/**
 * Tells apart what was refused, what failed, and what may have been signed. A
 * result that cannot be understood may have a certificate to it; and an error
 * that FreeIPA does not raise before it signs counts among the last: it
 * writes the certificate to the user's entry afterwards, and that can fail, too
 * (`ipaserver/plugins/cert.py`, `cert_request.execute`).
 */
export function judgeSigning(error: unknown): SigningFailure {
  if (error instanceof RpcError) {
    return judgeVerdict(error);
  }
  if (error instanceof AuthorityProtocolError) {
    return { state: 'open', finished: true, error };
  }
  if (!(error instanceof NoResultError)) {
    throw error;
  }
  if (error.executed === 'perhaps') {
    return { state: 'open', finished: false, error, server: error.server };
  }
  return {
    state: 'settled',
    error:
      error.fault === 'protocol'
        ? new AuthorityProtocolError(error.message)
        : new AuthorityUnavailableError(error.message),
  };
}

function judgeVerdict(error: RpcError): SigningFailure {
  const { code, text } = error;
  if (isBeforeCommand(code) || (code === 4001 && NO_SUCH_CA.test(text))) {
    return {
      state: 'settled',
      error: new AuthorityProtocolError(error.message),
    };
  }
  if (isDogtagDown(error)) {
    return {
      state: 'settled',
      error: new AuthorityUnavailableError(error.message),
    };
  }
  if (code === ACI_ERROR) {
    return { state: 'settled', error: refusal('forbidden', text) };
  }
  const decided =
    code === CERTIFICATE_OPERATION_ERROR && !isServerTrouble(error);
  if (decided || isInvalid(code)) {
    return { state: 'settled', error: refusal('invalid', text) };
  }
  const finished = !isDogtagLost(code);
  return { state: 'open', finished, error, server: error.server };
}

/** Has no cause: an error's message would tell it to the caller. */
export function refusal(
  kind: 'invalid' | 'forbidden',
  text: string,
): AuthorityRefusalError {
  const fallback =
    kind === 'forbidden'
      ? 'FreeIPA does not permit this certificate.'
      : 'FreeIPA refuses this certificate request.';
  return new AuthorityRefusalError(callerMessage({ text, fallback }), { kind });
}

/**
 * What a failed `cert_show`, `cert_find` or `cert_revoke` means.
 *
 * @returns the error to throw; `undefined` when FreeIPA has no such
 * certificate.
 */
export function judgeReading(error: unknown): Error | undefined {
  if (error instanceof NoResultError) {
    return error.fault === 'protocol'
      ? new AuthorityProtocolError(error.message)
      : new AuthorityUnavailableError(error.message);
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
  if (error.code === 2100) {
    return refusal('forbidden', error.text);
  }
  return [3005, 3007, 3008, 3009, 4005, 4034].includes(error.code)
    ? refusal('invalid', error.text)
    : new AuthorityProtocolError(error.message);
}

/**
 * 4001 since FreeIPA 4.12, 4301 with Dogtag's words before; 3008 or 3009 of a
 * number that FreeIPA never gives: 0, or one that is too long (`SerialNumber`
 * in `ipalib/parameters.py`).
 */
function isUnknownSerial({ code, text }: RpcError): boolean {
  switch (code) {
    case 4001:
      return !NO_SUCH_CA.test(text);
    case 4301:
      return /not found/i.test(text);
    case 3008:
    case 3009:
      return /serial/i.test(text);
    default:
      return false;
  }
}

/**
 * 907 is FreeIPA's NetworkError. When Dogtag is down, Apache responds for it
 * with 503, which FreeIPA passes on in the text of 4301 (`get_certificate` and
 * `find` in `ipaserver/plugins/dogtag.py`).
 */
function isCaUnavailable(error: RpcError): boolean {
  const { code, text } = error;
  return (
    isDogtagDown(error) ||
    code === 907 ||
    (code === 4301 && /\b503\b/.test(text))
  );
}

/** What FreeIPA's texts may hold that is not for callers. */
const INTERNAL = [
  /\b(?:cn|dc|o|ou|uid|fqdn|krbprincipalname)=/i, // distinguished names
  /\bhttps?:|\bhost=|\bport=|\/ca\//i, // addresses of servers
  /\b(?:java|javax|org|com|netscape)\.[a-z]+\.|\bat [\w.]+\(/, // Java traces
  /[^\P{C}]/u, // control characters, line ends
];

const MAX_LENGTH = 500;

/**
 * FreeIPA's words on why it refuses a request, when they are fit for whoever
 * asked the gateway: no names of servers or directory entries, no traces.
 *
 * @param options - `fallback` is what they get in its place.
 */
export function callerMessage(options: {
  readonly text: string;
  readonly fallback: string;
}): string {
  const { text, fallback } = options;
  const fit =
    text !== '' &&
    text.length <= MAX_LENGTH &&
    !INTERNAL.some(pattern => pattern.test(text));
  return fit ? text : fallback;
}
