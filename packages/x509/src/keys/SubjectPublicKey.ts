import { KeyObject } from 'node:crypto';

/**
 * A public key that passed every check, told by its `algorithm`.
 *
 * @public
 */
export type SubjectPublicKey = {
  /** Size of the RSA modulus, or of the curve's field. */
  readonly bits: number;
  /** DER of the SubjectPublicKeyInfo, as in the request. */
  readonly spki: Buffer;
  /** SHA-256 of `spki`, lower-case hex: the name of the key in records. */
  readonly sha256: string;
  /** The key for `node:crypto`. */
  readonly keyObject: KeyObject;
} & (
  | { readonly algorithm: 'rsa' }
  | { readonly algorithm: 'ec'; readonly curve: CurveName }
  | { readonly algorithm: 'ed25519' }
);

/**
 * The curves of FIPS 186 that keys may be on.
 *
 * @public
 */
export type CurveName = 'P-256' | 'P-384' | 'P-521';
