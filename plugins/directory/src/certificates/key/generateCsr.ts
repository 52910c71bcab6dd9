import { PrintableString, Utf8String } from 'asn1js';
import { AttributeTypeAndValue, CertificationRequest } from 'pkijs';
import { toPem } from '../pem';

/** Key types that the browser generates, default first. */
export const keyTypes = ['P-256', 'RSA-3072'] as const;

export type KeyType = (typeof keyTypes)[number];

/** A key generated on this page and its CSR. */
export interface GeneratedCsr {
  /** Identifies the key in URLs of this tab. */
  id: string;
  type: KeyType;

  /** Extractable, so that it can be saved. Held only in memory. */
  privateKey: CryptoKey;

  /** CSR (PKCS#10) in PEM: the only part that is sent. */
  csr: string;
}

const algorithms = {
  'P-256': { name: 'ECDSA', namedCurve: 'P-256' },
  'RSA-3072': {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 3072,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  },
} as const satisfies Record<KeyType, EcKeyGenParams | RsaHashedKeyGenParams>;

const COMMON_NAME = '2.5.4.3';

/** Characters of a PrintableString (RFC 5280 appendix A). */
const PRINTABLE = /^[A-Za-z0-9 '()+,./:=?-]*$/;

/**
 * Generates a key pair and a CSR for a user. The subject contains only the
 * common name; the CA sets the rest.
 */
export async function generateCsr(options: {
  readonly username: string;
  readonly type: KeyType;
}): Promise<GeneratedCsr> {
  const { username, type } = options;
  const { privateKey, publicKey } = await crypto.subtle.generateKey(
    algorithms[type],
    true,
    ['sign', 'verify'],
  );
  const request = new CertificationRequest();
  request.version = 0; // RFC 2986 §4.1: v1
  request.attributes = [];
  request.subject.typesAndValues.push(
    new AttributeTypeAndValue({
      type: COMMON_NAME,
      value: PRINTABLE.test(username)
        ? new PrintableString({ value: username })
        : new Utf8String({ value: username }),
    }),
  );
  await request.subjectPublicKeyInfo.importKey(publicKey);
  await request.sign(privateKey, 'SHA-256');
  const csr = toPem('CERTIFICATE REQUEST', request.toSchema().toBER());
  return { id: crypto.randomUUID(), type, privateKey, csr };
}
