import { CertificateExtensions } from './CertificateExtensions';
import { NamePart } from './writeName';

/**
 * What a certificate is to say.
 *
 * @public
 */
export interface CertificateFields {
  /** Positive, 20 octets at most; see `randomSerialNumber`. */
  readonly serialNumber: bigint;
  /** In the order of the encoding: `O`, then `CN`, which reads `CN=alice,O=EXAMPLE.TEST`. */
  readonly subject: readonly NamePart[];
  /** Fractions of a second are dropped. */
  readonly notBefore: Date;
  /** As `notBefore`. The last second at which the certificate is valid. */
  readonly notAfter: Date;
  readonly extensions: CertificateExtensions;
}
