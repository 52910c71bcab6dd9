import { createHash, X509Certificate } from 'node:crypto';
import {
  describeCertificate,
  type CertificateFields,
} from '@directory-gateway/x509';
import type { SigningAuthority } from '../authority/SigningAuthority';

/**
 * Reads a certificate back before anybody gets it: a fault of the machine or of
 * the code must not leave the house with a signature under it.
 *
 * @throws Error that names what is wrong.
 */
export function checkCertificate(
  der: Buffer,
  expected: {
    readonly fields: CertificateFields;
    readonly publicKey: Buffer;
    readonly authority: SigningAuthority;
  },
): void {
  const { fields, publicKey, authority } = expected;
  if (!new X509Certificate(der).verify(authority.publicKey)) {
    throw new Error('The new certificate fails the check: its signature');
  }
  const description = describeCertificate(der);
  if (!description.ok) {
    throw new Error(`The new certificate fails the check: ${description.code}`);
  }
  const { certificate } = description;
  const facts: Record<string, boolean> = {
    serialNumber: certificate.serialNumber === fields.serialNumber,
    issuer: certificate.issuer === authority.issuer.certificate.subject,
    notBefore: certificate.notBefore === fields.notBefore.getTime(),
    notAfter: certificate.notAfter === fields.notAfter.getTime(),
    publicKey: certificate.publicKey.sha256 === sha256(publicKey),
    ca: !certificate.ca,
    alternativeNames:
      certificate.alternativeNames.length ===
      (fields.extensions.alternativeNames ?? []).length,
    extensions: certificate.unreadableExtensions.length === 0,
  };
  const wrong = Object.keys(facts).filter(fact => !facts[fact]);
  if (wrong.length > 0) {
    throw new Error(`The new certificate fails the check: ${wrong.join(', ')}`);
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
