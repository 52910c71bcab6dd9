/**
 * The directory gateway's ports and extension points.
 *
 * @packageDocumentation
 */
export * from './CertificateAuthority';
export * from './extensionPoints';
export type * from './CertificateAuthority';
export * from './config';
export { migrateDatabase } from './migrateDatabase';
export * from './extensionPoints';
export * from './readinessChecks';
export * from './CertificateAuthority';
export { TrustedLocations } from './TrustedLocations';
