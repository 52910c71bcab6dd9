import { createPublicKey, KeyObject, sign } from 'node:crypto';
import { OID } from '../der/oids';
import { bitString, NULL, objectIdentifier, sequence } from '../der/writeDer';

interface SignatureScheme {
  readonly hash?: 'sha256' | 'sha384' | 'sha512';
  /** AlgorithmIdentifier in DER. */
  readonly algorithm: Buffer;
}

/** By curve, in OpenSSL's names, or type of key. The hash matches the curve (RFC 5480 §4). */
const SCHEMES = new Map<string | undefined, SignatureScheme>([
  [
    'rsa',
    {
      hash: 'sha256',
      algorithm: sequence(objectIdentifier(OID.sha256WithRsaEncryption), NULL),
    },
  ],
  ['prime256v1', ecdsa('sha256', OID.ecdsaWithSha256)],
  ['secp384r1', ecdsa('sha384', OID.ecdsaWithSha384)],
  ['secp521r1', ecdsa('sha512', OID.ecdsaWithSha512)],
  ['ed25519', { algorithm: sequence(objectIdentifier(OID.ed25519)) }],
]);

function ecdsa(hash: SignatureScheme['hash'], oid: string): SignatureScheme {
  return { hash, algorithm: sequence(objectIdentifier(oid)) };
}

/** The private key of a CA with its signature algorithm. */
export class SigningKey {
  /** AlgorithmIdentifier of the signatures, in DER. */
  readonly algorithm: Buffer;
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Buffer;
  readonly #key: KeyObject;
  readonly #hash: string | undefined;

  /** @throws TypeError unless it is a private key of RSA, P-256, P-384, P-521 or Ed25519 */
  constructor(key: KeyObject) {
    const kind = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType;
    const scheme = key.type === 'private' ? SCHEMES.get(kind) : undefined;
    if (!scheme) {
      throw new TypeError(
        'The key of a CA must be a private key of RSA, P-256, P-384, P-521 or Ed25519',
      );
    }
    this.algorithm = scheme.algorithm;
    this.spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
    this.#key = key;
    this.#hash = scheme.hash;
  }

  /** Signs a TBSCertificate or TBSCertList; returns the certificate or list in DER. */
  sign(tbs: Buffer): Buffer {
    const signature = sign(this.#hash, tbs, this.#key);
    return sequence(tbs, this.algorithm, bitString(signature));
  }
}
