/**
 * What those who write an adapter of the directory gateway's ports test it
 * with.
 *
 * @packageDocumentation
 */
export { describeCertificateAuthority } from './certificateAuthorityConformance';
export type { CertificateAuthoritySubject } from './CertificateAuthoritySubject';
export { createSigningRequest } from './createSigningRequest';
export type {
  CreateSigningRequestOptions,
  KeyPair,
  SigningKeyType,
} from './createSigningRequest';
