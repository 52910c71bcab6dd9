/**
 * Test utilities for adapters of the directory gateway's ports.
 *
 * @packageDocumentation
 */
export {
  describeCertificateAuthority,
  type CertificateAuthoritySubject,
} from './certificateAuthorityConformance';
export {
  createSigningRequest,
  type CreateSigningRequestOptions,
  type KeyPair,
  type SigningKeyType,
} from './createSigningRequest';
export { RecordingLogger } from './RecordingLogger';
