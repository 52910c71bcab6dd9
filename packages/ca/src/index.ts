/**
 * A certificate authority: checks, signs and logs certificates.
 *
 * @packageDocumentation
 */

export {
  SignerRefusalError,
  SignerUnavailableError,
  type CertificateOrder,
  type CertificateSigner,
  type IssuerDescription,
  type IssuerId,
  type LoggedCertificate,
  type RevocationListOrder,
} from './CertificateSigner';
