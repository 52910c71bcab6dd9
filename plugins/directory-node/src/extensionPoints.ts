import { createExtensionPoint } from '@backstage/backend-plugin-api';
import type {
  CertificateAuthority,
  RevocationRecords,
} from './CertificateAuthority';

/**
 * A document served without authentication, for example a revocation list,
 * whose clients do not have a ticket of this realm.
 *
 * @public
 */
export interface PublicDocument {
  /**
   * Path relative to the plugin's base URL, without a trailing slash, for
   * example `/ca/0123456789abcdef/crl`. It must not change, because
   * certificates contain it for years. One segment may be a parameter, for
   * example `/ca/:issuer/crl`, which matches ASCII letters and digits.
   */
  readonly path: string;
  /** Media type, for example `application/pkix-crl`. */
  readonly contentType: string;
  /**
   * Returns the current document. Called at most once per second for each value
   * of the parameter; other requests share the result.
   *
   * @param parameter - value in the path; empty without a parameter
   * @returns `undefined` when the document does not exist (404)
   * @throws AuthorityUnavailableError when the document is not available (503)
   */
  read(parameter: string): Promise<Buffer | undefined>;
}

/**
 * Extension point where modules of the directory plugin add documents without
 * authentication.
 *
 * @public
 */
export interface DirectoryPublicDocumentsExtensionPoint {
  /**
   * Serves a document for GET and HEAD at exactly its path. All other paths
   * still require authentication. Must be called before the plugin starts.
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
 * Extension point where modules of the directory plugin register certificate
 * authorities.
 *
 * @public
 */
export interface DirectoryCertificateAuthoritiesExtensionPoint {
  /**
   * Registers a CA under the name used in `directory.certificates.authority`
   * and `directory.certificates.read`.
   *
   * @throws ConflictError when the name is already in use.
   */
  addAuthority(name: string, authority: CertificateAuthority): void;

  /**
   * Returns the gateway's records of revocations of a CA, by its registered
   * name, for a CA that signs its own CRL.
   */
  recordsOf(name: string): RevocationRecords;
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
