import { createExtensionPoint } from '@backstage/backend-plugin-api';
import type { CertificateAuthority } from './CertificateAuthority';

/**
 * A document that is served without authentication, for example a revocation
 * list: its clients have no ticket of this realm.
 *
 * @public
 */
export interface PublicDocument {
  /**
   * Its path below the plugin's base URL, without a trailing slash, for example
   * `/ca/0123456789abcdef/crl`. Certificates contain it for years: it must not
   * change. One segment may be a parameter, for example `/ca/:issuer/crl`: it
   * matches ASCII letters and digits.
   */
  readonly path: string;
  /** Media type, for example `application/pkix-crl`. */
  readonly contentType: string;
  /**
   * Returns the current document. Called at most once per second and value of
   * the parameter; requests in between share the result.
   *
   * @param parameter - its value in the path; empty without a parameter
   * @returns `undefined` when the document does not exist (404)
   * @throws AuthorityUnavailableError when it is not available (503).
   */
  read(parameter: string): Promise<Buffer | undefined>;
}

/**
 * Where modules of the directory plugin add documents without authentication.
 *
 * @public
 */
export interface DirectoryPublicDocumentsExtensionPoint {
  /**
   * Serves a document to GET and HEAD at exactly its path. All other paths
   * still require authentication. Documents are added before the plugin
   * starts.
   *
   * @throws ConflictError when the path is already in use.
   */
  addPublicDocument(document: PublicDocument): void;
}

/**
 * The extension point for documents without authentication.
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
   * Registers a CA under the name that `directory.certificates.authority` and
   * `directory.certificates.read` use.
   *
   * @throws ConflictError when the name is already in use.
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
