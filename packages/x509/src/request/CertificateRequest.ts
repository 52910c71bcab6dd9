import { DistinguishedName } from '../names/readName';
import { GeneralName } from '../names/readGeneralName';
import { SubjectPublicKey } from '../keys/readPublicKey';

/**
 * The requested subject.
 *
 * @public
 */
export interface RequestedSubject extends DistinguishedName {
  /** Every CN in the order of the encoding. Compare by code points. */
  readonly commonNames: readonly string[];
  /** Every emailAddress (RFC 2985 §5.2.1). */
  readonly emailAddresses: readonly string[];
}

/**
 * Signature algorithm of a certificate request: `rsa` for RSASSA-PKCS1-v1_5,
 * `rsa-pss` for RSASSA-PSS (RFC 8017 §8), `ec` for ECDSA.
 *
 * @public
 */
export type RequestSignature = 'rsa' | 'rsa-pss' | 'ec' | 'ed25519';

/**
 * A certificate request (PKCS #10, RFC 2986) that was parsed strictly and proves possession of its
 * key. Policy is not applied: a CA should take only `publicKey` from it. Deeply frozen, except for the
 * bytes of buffers.
 *
 * @public
 */
export class CertificateRequest {
  /** The requested subject, not verified. */
  readonly subject: RequestedSubject;
  /** The key whose possession the requester has proved. */
  readonly publicKey: SubjectPublicKey;
  /** Signature algorithm of the proof of possession. */
  readonly signature: RequestSignature;
  /** The requested SubjectAltName; empty when absent. */
  readonly alternativeNames: readonly GeneralName[];
  readonly #der: Buffer;

  constructor(parts: {
    readonly subject: RequestedSubject;
    readonly publicKey: SubjectPublicKey;
    readonly signature: RequestSignature;
    readonly alternativeNames: readonly GeneralName[];
    readonly der: Buffer;
  }) {
    this.subject = parts.subject;
    this.publicKey = parts.publicKey;
    this.signature = parts.signature;
    this.alternativeNames = parts.alternativeNames;
    this.#der = parts.der;
    Object.freeze(this);
  }

  /**
   * The request in DER. A getter rather than a field, so that a printed request
   * does not show its attributes, which may contain a challenge password.
   */
  get der(): Buffer {
    return this.#der;
  }
}
