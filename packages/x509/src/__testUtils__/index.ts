/**
 * Utilities for tests of packages that use this one.
 *
 * @packageDocumentation
 */
export {
  createCaCertificate,
  type CaCertificateOptions,
} from './createCaCertificate';
