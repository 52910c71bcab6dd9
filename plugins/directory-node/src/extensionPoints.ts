import { createExtensionPoint } from '@backstage/backend-plugin-api';
import type { CertificateAuthority } from './CertificateAuthority';

/**
 * A document that everyone may read without a login, for example a revocation
 * list: whoever checks a certificate has no ticket of this realm.
 *
 * @public
 */
export interface PublicDocument {
  /**
   * Its path below the plugin's base URL, without a trailing slash, for example
   * `/ca/crl`. Certificates carry such addresses for years: it never changes.
   */
  readonly path: string;
  /** Media type, for example `application/pkix-crl`. */
  readonly contentType: string;
  /**
   * The current document. Called at most once per second: requests in between
   * share its result.
   *
   * @throws AuthorityUnavailableError when it is not available: 503.
   */
  read(): Promise<Buffer>;
}

/**
 * Where modules of the directory plugin offer documents that need no login.
 *
 * @public
 */
export interface DirectoryPublicDocumentsExtensionPoint {
  /**
   * Serves a document to GET and HEAD at exactly its path; all other paths keep
   * asking who calls.
   *
   * @throws ConflictError when the path is taken.
   */
  addPublicDocument(document: PublicDocument): void;
}

/**
 * The extension point for documents that need no login.
 *
 * @public
 */
export const directoryPublicDocumentsExtensionPoint =
  createExtensionPoint<DirectoryPublicDocumentsExtensionPoint>({
    id: 'directory.public-documents',
  });

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
