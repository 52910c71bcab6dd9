import { KerberosRefusalReason } from './KerberosService';

/** A Negotiate token, or the reason why the header is refused. */
export type NegotiateCredentials =
  | { kind: 'token'; base64: string; bytes: Buffer }
  | { kind: 'refused'; reason: KerberosRefusalReason };

/**
 * Maximum size of a token before base64. Windows allows at most 65,535 bytes
 * (`MaxTokenSize`, 48,000 by default).
 *
 * @public
 */
export const MAX_TOKEN_BYTES = 65_536;

/** Start of every NTLM message ([MS-NLMP] §2.2.1). */
const NTLM_SIGNATURE = Buffer.from('NTLMSSP\0', 'latin1');

/** The DER of NTLM's mechanism OID, 1.3.6.1.4.1.311.2.2.10 ([MS-NLMP] §1.9). */
const NTLM_OID = Buffer.from('060a2b06010401823702020a', 'hex');

/**
 * Parses `Negotiate <base64>` (RFC 4559 §4.2) by the grammar of RFC 9110 §11.4: the scheme in any
 * case, one or more spaces, then canonical base64 (RFC 4648 §4, padded, no spare bits).
 *
 * Several credentials, in several headers or separated by commas, are
 * malformed: otherwise a proxy and this server could choose different ones.
 */
export function parseNegotiate(
  header: string | readonly string[] | undefined,
): NegotiateCredentials {
  const values = typeof header === 'string' ? [header] : (header ?? []);
  if (values.length > 1) {
    return refused('malformed_token');
  }
  const credentials = values[0]?.trim() ?? '';
  const scheme = credentials.split(' ', 1)[0];

  switch (scheme.toLowerCase()) {
    case 'negotiate':
      return parseToken(credentials.slice(scheme.length).replace(/^ +/, ''));
    case 'ntlm':
      return refused('ntlm_refused');
    default:
      return refused(
        /, *negotiate(?: |$)/i.test(credentials)
          ? 'malformed_token'
          : 'no_credentials',
      );
  }
}

/** Whether a token that the Kerberos library refused for lack of a known mechanism offers NTLM. */
export function offersNtlm(token: Buffer): boolean {
  return token.includes(NTLM_OID);
}

function parseToken(base64: string) {
  if (base64.length > Math.ceil(MAX_TOKEN_BYTES / 3) * 4) {
    return refused('token_too_large');
  }
  const bytes = Buffer.from(base64, 'base64');
  // Buffer ignores invalid characters; only canonical base64 survives
  // re-encoding.
  if (bytes.length === 0 || bytes.toString('base64') !== base64) {
    return refused('malformed_token');
  }
  if (bytes.length > MAX_TOKEN_BYTES) {
    return refused('token_too_large');
  }
  if (bytes.subarray(0, NTLM_SIGNATURE.length).equals(NTLM_SIGNATURE)) {
    return refused('ntlm_refused');
  }
  return { kind: 'token', base64, bytes } as const;
}

function refused(reason: KerberosRefusalReason): NegotiateCredentials {
  return { kind: 'refused', reason };
}
