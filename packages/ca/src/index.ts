/**
 * A certificate authority: checks, signs and logs certificates.
 *
 * @packageDocumentation
 */

export {
  SignerLimitError,
  SignerRefusalError,
  SignerUnavailableError,
  type SignCertificateRequest,
  type CertificateSigner,
  type IssuerDescription,
  type IssuerId,
  type LoggedCertificate,
  type SignRevocationListRequest,
} from './CertificateSigner';
export { CaIssuer, documentUrlsOf, publicKeyOf } from './CaIssuer';
export { KeyFile, type KeyFileOptions } from './keys/KeyFile';
export {
  LocalSigner,
  MAX_CRL_VALIDITY_MS,
  type LocalSignerOptions,
} from './LocalSigner';
export {
  readCertificateProfiles,
  type CertificateProfile,
  type ProfilesOptions,
} from './profiles';
export { SocketSigner, type SocketSignerOptions } from './socket/SocketSigner';
