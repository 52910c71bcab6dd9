/**
 * The directory gateway's ports and extension points.
 *
 * @packageDocumentation
 */
export * from './authorityErrors';
export * from './certificateAuthoritiesExtensionPoint';
export type * from './CertificateAuthority';
export * from './publicDocumentsExtensionPoint';
export * from './revocableReasons';
