/**
 * Parses untrusted certificate requests, describes certificates, and issues certificates and
 * revocation lists.
 *
 * @packageDocumentation
 */

export { readCertificateRequest } from './request/readCertificateRequest';
export type { CertificateRequestResult } from './request/readCertificateRequest';
export type {
  CertificateRequest,
  RequestedExtension,
  RequestedSubject,
} from './request/CertificateRequest';
export { refusalMessages } from './refusals/RequestRefusal';
export type { RefusalCode } from './refusals/RequestRefusal';
export type { CurveName, SubjectPublicKey } from './keys/SubjectPublicKey';
export type { DistinguishedName, NameAttribute } from './names/readName';
export type { GeneralName, KerberosPrincipal } from './names/readGeneralName';
export type { StringType } from './der/readText';

export {
  Certificate,
  describeCertificate,
} from './description/describeCertificate';
export type { CertificateDescriptionResult } from './description/describeCertificate';
export type {
  AlternativeNamesByKind,
  CertificateDescription,
  PublicKeyDescription,
} from './description/readCertificate';
export type { KeyPurpose, KeyUsage } from './extensions/extensions';

export { createCaCertificate } from './issuing/createCaCertificate';
export type { CaCertificateOptions } from './issuing/createCaCertificate';
export { Issuer } from './issuing/Issuer';
export type { CertificateFields } from './issuing/writeTbs';
export type { CertificateExtensions } from './issuing/writeExtensions';
export type { WritableGeneralName } from './issuing/writeNames';
export type { NamePart } from './issuing/writeNames';
export type { AttributeName } from './names/readName';
export { REVOCATION_REASONS } from './issuing/writeTbs';
export type {
  RevocationListFields,
  RevocationReason,
  RevokedCertificate,
} from './issuing/writeTbs';
export { randomSerialNumber } from './issuing/createCaCertificate';

export { readPemBlocks } from './der/pem';
export { writePem } from './der/pem';
