import type { RpcError } from './RpcError';

/** InternalError, NetworkError, HTTPRequestError, DatabaseError. */
const TROUBLE: readonly number[] = [903, 907, 4035, 4203];

/** `CertificateOperationError` */
const CERTIFICATE_OPERATION = 4301;

/**
 * Dogtag's verdicts and FreeIPA's failures to reach Dogtag come under one code
 * (`ipaserver/plugins/dogtag.py`, `raise_certificate_operation_error`,
 * `request_certificate`), and up to 4.11 an unknown serial number, too.
 */
const OUT_OF_REACH =
  /communicate|connection|connect to|timed? ?out|max retries|remote end|server error|unavailable/i;

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
