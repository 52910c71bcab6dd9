import { describeCertificate } from '../description/Certificate';
import {
  CertificateDescription,
  readCertificate,
} from '../description/readCertificate';
import { DerError } from '../der/DerNode';
import { type ReadRevocationList, readTbsCertList } from './readTbs';
import { SigningKey, StructureSigner } from './SigningKey';
import { keyIdentifier } from './writeExtensions';
import {
  CertificateFields,
  IssuerFields,
  RevocationListFields,
  writeTbsCertificate,
  writeTbsCertList,
} from './writeTbs';

/**
 * A CA's certificate with its key: signs certificates and revocation lists. The
 * caller determines names and lifetimes; a certificate may outlive the CA's
 * own.
 *
 * @public
 */
export class Issuer {
  /** The CA's certificate. */
  readonly certificate: CertificateDescription;
  readonly #signer: StructureSigner;
  readonly #fields: IssuerFields;

  /**
   * Combines a certificate with its key.
   *
   * @param options - `certificate`: the CA's certificate in DER; `key`: its
   *   RSA, P-256, P-384, P-521 or Ed25519 key
   * @throws TypeError when the certificate cannot be read, is not a CA's, or does not belong to the key
   */
  static create(options: { certificate: Uint8Array; key: SigningKey }): Issuer {
    const result = describeCertificate(options.certificate);
    if (!result.ok) {
      throw new TypeError(result.message);
    }
    const { ca, keyUsage } = result.certificate;
    if (!ca || keyUsage?.includes('keyCertSign') === false) {
      throw new TypeError('The CA certificate must allow signing certificates');
    }
    return new Issuer(result.certificate, new StructureSigner(options.key));
  }

  private constructor(
    certificate: CertificateDescription,
    signer: StructureSigner,
  ) {
    const parts = readCertificate(Buffer.from(certificate.base64, 'base64'));
    if (!parts.publicKey.der.equals(signer.spki)) {
      throw new TypeError('The CA certificate does not match the key');
    }
    this.certificate = certificate;
    this.#signer = signer;
    this.#fields = {
      // The original octets of the subject: chains are compared octet by octet.
      name: parts.subject.der,
      // RFC 5280 §4.2.1.1: the value in the CA's certificate, not a computed
      // one.
      keyIdentifier: certificate.subjectKeyIdentifier
        ? Buffer.from(certificate.subjectKeyIdentifier, 'hex')
        : keyIdentifier(signer.spki),
      algorithm: signer.algorithm,
    };
  }

  /**
   * Signs a certificate.
   *
   * @param options - `spki`: the subject's public key, a SubjectPublicKeyInfo in DER
   * @returns the certificate in DER
   * @throws RangeError when a field is out of range or cannot be written
   * @throws TypeError when `spki` is not a SubjectPublicKeyInfo
   * @throws Error when the key cannot sign
   */
  async signCertificate(
    options: CertificateFields & { spki: Buffer },
  ): Promise<Buffer> {
    return await this.#signer.sign(writeTbsCertificate(options, this.#fields));
  }

  /**
   * Signs a revocation list.
   *
   * @returns the revocation list in DER
   * @throws RangeError when a field is out of range or cannot be written
   * @throws Error when the key cannot sign
   */
  async signRevocationList(fields: RevocationListFields): Promise<Buffer> {
    return await this.#signer.sign(writeTbsCertList(fields, this.#fields));
  }

  /**
   * Reads a revocation list of this CA.
   *
   * @param list - DER
   * @throws TypeError when the list cannot be read, or this CA has not signed it
   */
  async readRevocationList(list: Buffer): Promise<ReadRevocationList> {
    try {
      return readTbsCertList(await this.#signer.verify(list));
    } catch (error) {
      if (error instanceof DerError) {
        throw new TypeError('The revocation list is damaged, or of another CA');
      }
      throw error;
    }
  }
}
