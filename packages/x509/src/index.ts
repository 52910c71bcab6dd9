/**
 * Reads certificate requests that nobody trusts yet, describes certificates, writes certificates and
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
export { refusalMessages } from './refusals/refusalMessages';
export type { RefusalCode } from './refusals/refusalMessages';
export type { CurveName, SubjectPublicKey } from './keys/SubjectPublicKey';
export type {
  DistinguishedName,
  NameAttribute,
} from './names/DistinguishedName';
export type { GeneralName, KerberosPrincipal } from './names/GeneralName';
export type { StringType } from './der/readText';

export { describeCertificate } from './description/describeCertificate';
export type { CertificateDescriptionResult } from './description/describeCertificate';
export type {
  AlternativeNamesByKind,
  CertificateDescription,
  PublicKeyDescription,
} from './description/CertificateDescription';
export type { KeyPurpose, KeyUsage } from './extensions/keyUsages';

export { createCaCertificate } from './issuing/createCaCertificate';
export type { CaCertificateOptions } from './issuing/createCaCertificate';
export { Issuer } from './issuing/Issuer';
export type { CertificateFields } from './issuing/CertificateFields';
export type { CertificateExtensions } from './issuing/CertificateExtensions';
export type { WritableGeneralName } from './issuing/writeNames';
export type { NamePart } from './issuing/writeName';
export type { AttributeName } from './names/attributeTypes';
export { REVOCATION_REASONS } from './issuing/RevocationListFields';
export type {
  RevocationListFields,
  RevocationReason,
  RevokedCertificate,
} from './issuing/RevocationListFields';
export { randomSerialNumber } from './issuing/randomSerialNumber';

export { readPemBlocks } from './der/pem';
export { writePem } from './der/writePem';
