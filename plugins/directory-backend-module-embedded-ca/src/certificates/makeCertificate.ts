import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { SigningAuthority } from '../authority/SigningAuthority';
import type { CertificateProfile } from './CertificateProfile';
import type { CertificateRecord } from './CertificateRecord';
import { checkCertificate } from './checkCertificate';
import { composeCertificate } from './composeCertificate';

/** What a certificate is made of. */
export interface CertificateOrder {
  readonly request: SigningRequest;
  readonly profile: CertificateProfile;
  readonly authority: SigningAuthority;
  /** The serial number and the times that it must have. */
  readonly reserved: CertificateRecord;
}

/**
 * Signs a certificate, and reads it back before anybody gets it.
 *
 * @returns DER
 * @throws AuthorityRefusalError when a name cannot be in a certificate.
 * @throws AuthorityUnavailableError when the certificate fails the check.
 */
export function makeCertificate(
  order: CertificateOrder & { readonly crlUrl: string },
): Buffer {
  const { request, authority, reserved: reservation } = order;
  const { publicKey } = request;
  try {
    const fields = composeCertificate({ ...order, reservation });
    const certificate = authority.issuer.signCertificate({
      ...fields,
      spki: publicKey,
    });
    checkCertificate(certificate, { fields, publicKey, authority });
    return certificate;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new AuthorityRefusalError(
        `The certificate cannot be written: ${error.message}.`,
      );
    }
    throw new AuthorityUnavailableError('The certificate went wrong', error);
  }
}
