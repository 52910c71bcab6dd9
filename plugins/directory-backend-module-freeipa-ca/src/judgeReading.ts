import {
  AuthorityProtocolError,
  AuthorityUnavailableError,
} from '@directory-gateway/backstage-plugin-directory-node';
import { NO_SUCH_CA, refusal } from './classifyError';
import { isDogtagDown } from './rpc/errors';
import { NoVerdictError } from './rpc/NoVerdictError';
import { RpcError } from './rpc/RpcError';

/**
 * What a failed `cert_show`, `cert_find` or `cert_revoke` means.
 *
 * @returns the error to throw; `undefined` when FreeIPA has no such
 * certificate.
 */
export function judgeReading(error: unknown): Error | undefined {
  if (error instanceof NoVerdictError) {
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
