import { KeyObject } from 'node:crypto';
import {
  DerValue,
  bitString,
  encode,
  encoded,
  sequence,
} from '../der/writeDer';
import { describeCertificate } from '../description/describeCertificate';
import {
  CertificateDescription,
  readCertificate,
} from '../description/readCertificate';
import { keyIdentifier } from './writeExtensions';
import {
  CertificateFields,
  RevocationListFields,
  writeTbsCertList,
  writeTbsCertificate,
} from './writeTbs';
import { SigningKey } from './SigningKey';

/**
 * A CA's certificate with its key: signs certificates and revocation lists. Who may have what, and
 * for how long, is for its caller to decide; nothing holds a certificate to the CA's own validity.
 *
 * @public
 */
export class Issuer {
  /** The CA's certificate. */
  readonly certificate: CertificateDescription;
  readonly #key: SigningKey;
  /** The CA's subject as it is encoded: a chain is compared octet by octet. */
  readonly #name: DerValue;
  readonly #keyIdentifier: Buffer;

  /**
   * @param options - `certificate`: DER of the CA's certificate; `privateKey`: its key, of RSA,
   *   P-256, P-384, P-521 or Ed25519
   * @throws TypeError when the certificate cannot be read, is not a CA's, or is not that of the key
   */
  static create(options: {
    certificate: Uint8Array;
    privateKey: KeyObject;
  }): Issuer {
    const result = describeCertificate(options.certificate);
    if (!result.ok) {
      throw new TypeError(result.message);
    }
    const { ca, keyUsage } = result.certificate;
    if (!ca || keyUsage?.includes('keyCertSign') === false) {
      throw new TypeError(
        'The certificate of an authority must be one that may sign others',
      );
    }
    return new Issuer(
      result.certificate,
      SigningKey.create(options.privateKey),
    );
  }

  private constructor(certificate: CertificateDescription, key: SigningKey) {
    const parts = readCertificate(Buffer.from(certificate.base64, 'base64'));
    if (!parts.publicKey.der.equals(key.spki)) {
      throw new TypeError(
        "The certificate of an authority must be that of the authority's key",
      );
    }
    this.certificate = certificate;
    this.#key = key;
    this.#name = encoded(parts.subject.der);
    // RFC 5280 §4.2.1.1: what the CA's certificate says, however it came about.
    this.#keyIdentifier = certificate.subjectKeyIdentifier
      ? Buffer.from(certificate.subjectKeyIdentifier, 'hex')
      : keyIdentifier(key.spki);
  }

  /**
   * @param options - `spki`: the subject's public key, a SubjectPublicKeyInfo in DER
   * @returns the certificate in DER
   * @throws RangeError when a field cannot be written, or makes no sense
   * @throws TypeError when the key is none
   */
  signCertificate(options: CertificateFields & { spki: Buffer }): Buffer {
    const tbs = writeTbsCertificate(options, {
      spki: options.spki,
      issuer: this.#name,
      issuerKeyIdentifier: this.#keyIdentifier,
      algorithm: this.#key.algorithm,
    });
    return signTbs(tbs, this.#key);
  }

  /**
   * @returns the revocation list in DER
   * @throws RangeError when a field cannot be written, or makes no sense
   */
  signRevocationList(fields: RevocationListFields): Buffer {
    const tbs = writeTbsCertList(fields, {
      issuer: this.#name,
      issuerKeyIdentifier: this.#keyIdentifier,
      algorithm: this.#key.algorithm,
    });
    return signTbs(tbs, this.#key);
  }
}

/** Signs what is to be signed, and puts it, the algorithm and the signature together. */
export function signTbs(tbs: DerValue, key: SigningKey): Buffer {
  const signature = key.sign(encode(tbs));
  return encode(sequence(tbs, key.algorithm, bitString(signature)));
}
