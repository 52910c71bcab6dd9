import type { RpcError } from './RpcError';

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
