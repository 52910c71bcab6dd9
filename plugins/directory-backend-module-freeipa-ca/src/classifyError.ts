import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  AuthorityUnavailableError,
} from '@directory-gateway/backstage-plugin-directory-node';
import { callerMessage } from './callerMessage';
import { isDogtagDown, isServerTrouble } from './rpc/errors';
import { NoVerdictError } from './rpc/NoVerdictError';
import { RpcError } from './rpc/RpcError';

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
  if (!(error instanceof NoVerdictError)) {
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
