/**
 * Parses untrusted certificate requests, describes certificates, and issues certificates and
 * revocation lists.
 *
 * @packageDocumentation
 */

export {
  readCertificateRequest,
  type CertificateRequestResult,
} from './request/readCertificateRequest';
export type {
  CertificateRequest,
  RequestedSubject,
  RequestSignature,
} from './request/CertificateRequest';
export { refusalMessages, type RefusalCode } from './refusals/RequestRefusal';
export type { SubjectPublicKey } from './keys/readPublicKey';
export type { DistinguishedName, NameAttribute } from './names/readName';
export type { GeneralName, KerberosPrincipal } from './names/readGeneralName';
export type { StringType } from './der/readText';

export {
  Certificate,
  type CertificateDescriptionResult,
} from './description/Certificate';
export {
  type AlternativeNamesByKind,
  type CertificateDescription,
} from './description/readCertificate';
export {
  isReservedPurpose,
  KEY_PURPOSES,
  type KeyPurpose,
  type KeyUsage,
  purposeOid,
} from './extensions/extensions';

export { Issuer } from './issuing/Issuer';
export type { ReadRevocationList } from './issuing/readTbs';
export {
  signingKeyOf,
  type SignatureHash,
  type SigningKey,
} from './issuing/SigningKey';
export {
  randomSerialNumber,
  REVOCATION_REASONS,
  type CertificateFields,
  type RevocationListFields,
  type RevocationReason,
  type RevokedCertificate,
} from './issuing/writeTbs';
export type { CertificateExtensions } from './issuing/writeExtensions';
export type { NamePart, WritableGeneralName } from './issuing/writeNames';
export { readPemBlocks, writePem } from './der/pem';
