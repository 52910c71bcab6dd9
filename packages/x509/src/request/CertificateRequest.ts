import { DistinguishedName } from '../names/readName';
import { GeneralName } from '../names/readGeneralName';
import { SubjectPublicKey } from '../keys/SubjectPublicKey';

/**
 * An extension that a request asks for (RFC 2985 §5.4.2).
 *
 * @public
 */
export interface RequestedExtension {
  /** Dotted decimal. */
  readonly oid: string;
  readonly critical: boolean;
}

/**
 * The subject that a request asks for.
 *
 * @public
 */
export interface RequestedSubject extends DistinguishedName {
  /** Every CN, in the order of the encoding. Compare by code points. */
  readonly commonNames: readonly string[];
  /** Every emailAddress (RFC 2985 §5.2.1). */
  readonly emailAddresses: readonly string[];
}

/**
 * The parts of a {@link CertificateRequest}.
 *
 * @public
 */
export interface CertificateRequestParts {
  readonly subject: RequestedSubject;
  readonly publicKey: SubjectPublicKey;
  readonly alternativeNames: readonly GeneralName[];
  readonly extensions: readonly RequestedExtension[];
  readonly der: Buffer;
}

/**
 * A certificate request (PKCS #10, RFC 2986) that was read to the last byte and proves possession of
 * its key. Who may have what it asks for is still to be decided; whoever signs takes nothing from it
 * but `publicKey`. Frozen, and all it holds (the bytes of buffers apart).
 *
 * @public
 */
export class CertificateRequest {
  readonly subject: RequestedSubject;
  readonly publicKey: SubjectPublicKey;
  /** The SubjectAltName that is asked for; empty when there is none. */
  readonly alternativeNames: readonly GeneralName[];
  /** Every extension that is asked for, SubjectAltName among them. None is CA:TRUE. */
  readonly extensions: readonly RequestedExtension[];
  readonly #der: Buffer;

  constructor(parts: CertificateRequestParts) {
    this.subject = parts.subject;
    this.publicKey = parts.publicKey;
    this.alternativeNames = parts.alternativeNames;
    this.extensions = parts.extensions;
    this.#der = parts.der;
    Object.freeze(this);
  }

  /**
   * The request as it was signed. Not a field, so that printing a request shows none of what its
   * attributes may hold (a challenge password, for one).
   */
  get der(): Buffer {
    return this.#der;
  }
}
