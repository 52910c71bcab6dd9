import { KeyObject } from 'node:crypto';
import { OID } from '../der/oids';

/**
 * A public key that passed every check.
 *
 * @public
 */
export type SubjectPublicKey = {
  /** Size of the RSA modulus or of the curve's field. */
  readonly bits: number;
  /** DER of the SubjectPublicKeyInfo, as in the request. */
  readonly spki: Buffer;
  /** SHA-256 of `spki`, lower-case hex: identifies the key in records. */
  readonly sha256: string;
  /** The key for `node:crypto`. */
  readonly keyObject: KeyObject;
} & (
  | { readonly algorithm: 'rsa' }
  | { readonly algorithm: 'ec'; readonly curve: CurveName }
  | { readonly algorithm: 'ed25519' }
);

/**
 * The accepted curves of FIPS 186.
 *
 * @public
 */
export type CurveName = 'P-256' | 'P-384' | 'P-521';

/** y² = x³ - 3x + b modulo p (SP 800-186 §3.2.1; every cofactor is 1). */
export interface Curve {
  readonly name: CurveName;
  readonly bits: number;
  readonly p: bigint;
  readonly b: bigint;
}

/** The accepted curves by OID (RFC 5480 §2.1.1.1). */
export const CURVES: ReadonlyMap<string, Curve> = new Map<string, Curve>([
  [
    OID.prime256v1,
    {
      name: 'P-256',
      bits: 256,
      p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    },
  ],
  [
    OID.secp384r1,
    {
      name: 'P-384',
      bits: 384,
      p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    },
  ],
  [
    OID.secp521r1,
    {
      name: 'P-521',
      bits: 521,
      p: 2n ** 521n - 1n,
      b: 0x0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    },
  ],
]);
