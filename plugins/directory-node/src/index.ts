/**
 * The directory gateway's ports and extension points.
 *
 * @packageDocumentation
 */
export * from './authorityErrors';
export * from './certificateAuthoritiesExtensionPoint';
export type * from './CertificateAuthority';
export { migrateDatabase } from './migrateDatabase';
export * from './extensionPoints';
export * from './readinessChecks';
export * from './revocableReasons';
export { TrustedLocations } from './TrustedLocations';
