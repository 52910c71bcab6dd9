import { createPublicKey, KeyObject, sign } from 'node:crypto';
import {
  DerValue,
  nullValue,
  objectIdentifier,
  sequence,
} from '../der/writeDer';
import { OID } from '../der/oids';

/** How a kind of key signs. */
interface Scheme {
  hash: string | undefined;
  algorithm: DerValue;
}

/** The hash of a curve is the one of its strength (RFC 5480 §4), named as OpenSSL names curves. */
const EC_SCHEMES = new Map<string | undefined, Scheme>([
  [
    'prime256v1',
    {
      hash: 'sha256',
      algorithm: sequence(objectIdentifier(OID.ecdsaWithSha256)),
    },
  ],
  [
    'secp384r1',
    {
      hash: 'sha384',
      algorithm: sequence(objectIdentifier(OID.ecdsaWithSha384)),
    },
  ],
  [
    'secp521r1',
    {
      hash: 'sha512',
      algorithm: sequence(objectIdentifier(OID.ecdsaWithSha512)),
    },
  ],
]);

const RSA_SCHEME: Scheme = {
  hash: 'sha256',
  algorithm: sequence(
    objectIdentifier(OID.sha256WithRsaEncryption),
    nullValue(),
  ),
};

const ED25519_SCHEME: Scheme = {
  hash: undefined,
  algorithm: sequence(objectIdentifier(OID.ed25519)),
};

/** The private key of an authority, with the one algorithm that it signs with. */
export class SigningKey {
  /** AlgorithmIdentifier of the signatures. */
  readonly algorithm: DerValue;
  /** DER of the SubjectPublicKeyInfo. */
  readonly spki: Buffer;
  readonly #key: KeyObject;
  readonly #hash: string | undefined;

  /** @throws TypeError unless the key is a private one of RSA, P-256, P-384, P-521 or Ed25519 */
  static create(key: KeyObject): SigningKey {
    const scheme = key.type === 'private' ? schemeOf(key) : undefined;
    if (!scheme) {
      throw new TypeError(
        'The key of an authority must be a private key of RSA, P-256, P-384, P-521 or Ed25519',
      );
    }
    return new SigningKey(key, scheme);
  }

  private constructor(key: KeyObject, scheme: Scheme) {
    this.algorithm = scheme.algorithm;
    this.spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
    this.#key = key;
    this.#hash = scheme.hash;
  }

  sign(bytes: Buffer): Buffer {
    return sign(this.#hash, bytes, this.#key);
  }
}

function schemeOf(key: KeyObject): Scheme | undefined {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return RSA_SCHEME;
    case 'ec':
      return EC_SCHEMES.get(key.asymmetricKeyDetails?.namedCurve);
    case 'ed25519':
      return ED25519_SCHEME;
    default:
      return undefined;
  }
}
