import { createExtensionPoint } from '@backstage/backend-plugin-api';
import type { CertificateAuthority } from './CertificateAuthority';

/**
 * Where modules of the directory plugin register certificate authorities.
 *
 * @public
 */
export interface DirectoryCertificateAuthoritiesExtensionPoint {
  /**
   * Registers an authority under the name by which
   * `directory.certificates.authority` and `directory.certificates.read` know
   * it.
   *
   * @throws ConflictError when the name is taken.
   */
  addAuthority(name: string, authority: CertificateAuthority): void;
}

/**
 * The extension point for certificate authorities.
 *
 * @public
 */
export const directoryCertificateAuthoritiesExtensionPoint =
  createExtensionPoint<DirectoryCertificateAuthoritiesExtensionPoint>({
    id: 'directory.certificate-authorities',
  });
