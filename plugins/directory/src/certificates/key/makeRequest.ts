import { PrintableString, Utf8String } from 'asn1js';
import { AttributeTypeAndValue, CertificationRequest } from 'pkijs';
import { toPem } from '../pem';

/** Keys that a browser makes here: the small one first, then for old software. */
export const keyKinds = ['P-256', 'RSA-3072'] as const;

/** A kind of key. */
export type KeyKind = (typeof keyKinds)[number];

/** A key of this page, and what it asks to be signed. */
export interface MadeRequest {
  kind: KeyKind;

  /** Extractable, so that it can be saved; it is nowhere else. */
  privateKey: CryptoKey;

  /** PKCS#10, PEM: all of it that leaves the browser. */
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
} as const satisfies Record<KeyKind, EcKeyGenParams | RsaHashedKeyGenParams>;

const COMMON_NAME = '2.5.4.3';

/** RFC 5280 appendix A: what a PrintableString may hold. */
const PRINTABLE = /^[A-Za-z0-9 '()+,./:=?-]*$/;

/**
 * Makes a key pair and a request for a user: the common name and nothing else,
 * for the authority writes the rest of the subject.
 */
export async function makeRequest(options: {
  readonly username: string;
  readonly kind: KeyKind;
}): Promise<MadeRequest> {
  const { username, kind } = options;
  const { privateKey, publicKey } = await crypto.subtle.generateKey(
    algorithms[kind],
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
  return { kind, privateKey, csr };
}
