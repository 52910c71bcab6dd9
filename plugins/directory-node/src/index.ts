/**
 * The directory gateway's ports, extension points and shared configuration.
 *
 * @packageDocumentation
 */
export { Batch } from './Batch';
export * from './CertificateAuthority';
export * from './config';
export * from './doctor';
export * from './extensionPoints';
export { type Database, migrateDatabase } from './migrateDatabase';
export * from './permissionRules';
export * from './readinessChecks';
export { TrustedLocations } from './TrustedLocations';
