import { createPublicKey, KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import { OID } from '../der/oids';
import { DerError } from '../der/DerNode';
import { parseDer } from '../der/parseDer';
import { readBitStringOctets, readChildren } from '../der/readDer';
import { bitString, NULL, objectIdentifier, sequence } from '../der/writeDer';

/**
 * A hash function of a signature.
 *
 * @public
 */
export type SignatureHash = 'sha256' | 'sha384' | 'sha512';

/**
 * The private key of a CA: RSA, P-256, P-384, P-521 or Ed25519.
 *
 * @public
 */
export interface SigningKey {
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Buffer;
  /**
   * Signs data: with RSASSA-PKCS1-v1_5, with ECDSA, or with Ed25519, which has no separate hash.
   *
   * @returns the signature as certificates contain it
   */
  sign(data: Buffer, hash: SignatureHash | undefined): Promise<Buffer>;
}

const signInThread = promisify<
  string | undefined,
  NodeJS.ArrayBufferView,
  KeyObject,
  Buffer
>(sign);
const verifyInThread = promisify<
  string | undefined,
  NodeJS.ArrayBufferView,
  KeyObject,
  NodeJS.ArrayBufferView,
  boolean
>(verify);

/**
 * Signs with a key in memory.
 *
 * @throws TypeError when it is not a private key
 *
 * @public
 */
export function signingKeyOf(privateKey: KeyObject): SigningKey {
  if (privateKey.type !== 'private') {
    throw new TypeError('The key of a CA must be a private key');
  }
  return {
    spki: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    sign: (data, hash) => signInThread(hash, data, privateKey),
  };
}

interface SignatureScheme {
  readonly hash?: SignatureHash;
  /** AlgorithmIdentifier in DER. */
  readonly algorithm: Buffer;
}

/**
 * Algorithms by curve (OpenSSL's name) or key type. The hash matches the curve
 * (RFC 5480 §4).
 */
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

function ecdsa(hash: SignatureHash, oid: string): SignatureScheme {
  return { hash, algorithm: sequence(objectIdentifier(oid)) };
}

/** A key with its signature algorithm: signs structures of the form `SIGNED` (RFC 5280 §A.1). */
export class StructureSigner {
  /** AlgorithmIdentifier of the signatures, in DER. */
  readonly algorithm: Buffer;
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Buffer;
  readonly #key: SigningKey;
  readonly #hash: SignatureHash | undefined;
  readonly #publicKey: KeyObject;

  /**
   * @throws TypeError unless it is an RSA, P-256, P-384, P-521 or Ed25519 key
   */
  constructor(key: SigningKey) {
    this.#publicKey = createPublicKey({
      key: key.spki,
      format: 'der',
      type: 'spki',
    });
    const { asymmetricKeyDetails, asymmetricKeyType } = this.#publicKey;
    const scheme = SCHEMES.get(
      asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType,
    );
    if (!scheme) {
      throw new TypeError(
        'The key of a CA must be an RSA, P-256, P-384, P-521 or Ed25519 key',
      );
    }
    this.algorithm = scheme.algorithm;
    this.spki = key.spki;
    this.#key = key;
    this.#hash = scheme.hash;
  }

  /**
   * Signs the TBS part of a certificate or list, and verifies the
   * signature: a defect of the machine could otherwise produce an invalid
   * signature, which may reveal an RSA or ECDSA key.
   *
   * @returns the certificate or list in DER
   * @throws Error when the signature is not valid, or the key cannot sign
   */
  async sign(tbs: Buffer): Promise<Buffer> {
    const signature = await this.#key.sign(tbs, this.#hash);
    const isValid = await verifyInThread(
      this.#hash,
      tbs,
      this.#publicKey,
      signature,
    );
    if (!isValid) {
      throw new Error('The key of the CA produced an invalid signature');
    }
    return sequence(tbs, this.algorithm, bitString(signature));
  }

  /**
   * Verifies the signature of a certificate or list.
   *
   * @returns its TBS part
   * @throws DerError when it cannot be read, or another key signed it
   */
  async verify(der: Buffer): Promise<Buffer> {
    const parts = readChildren(parseDer(der, { maxNodes: Infinity }));
    const [tbs, , signature] = parts;
    const isValid = await verifyInThread(
      this.#hash,
      tbs?.der ?? Buffer.alloc(0),
      this.#publicKey,
      readBitStringOctets(signature),
    );
    if (!isValid) {
      throw new DerError('The signature is not valid');
    }
    return tbs.der;
  }
}
