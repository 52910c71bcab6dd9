import { WritableGeneralName } from './writeNames';
import { KeyUsage } from '../extensions/keyUsages';

/**
 * The extensions of a certificate to be written. What is left out is not written; the identifiers of
 * the subject's and the issuer's key always are.
 *
 * @public
 */
export interface CertificateExtensions {
  /** Whether the certificate is a CA's, and how many CAs may follow below it. */
  readonly basicConstraints:
    | { readonly ca: false }
    | { readonly ca: true; readonly pathLength?: number };
  /** Critical. */
  readonly keyUsage?: readonly KeyUsage[];
  /** Names of purposes (`clientAuth`, see {@link KeyPurpose}), or OIDs. */
  readonly extendedKeyUsage?: readonly string[];
  readonly alternativeNames?: readonly WritableGeneralName[];
  /** URLs of the revocation list. */
  readonly crlDistributionPoints?: readonly string[];
}
