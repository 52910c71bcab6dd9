import {
  DerValue,
  encoded,
  integer,
  sequence,
  tagged,
  time,
} from '../der/writeDer';
import { keyIdentifier } from './keyIdentifier';
import { writeExtensions } from './writeExtensions';
import { writeName } from './writeName';
import { CertificateFields } from './CertificateFields';

/** v3 (RFC 5280 §4.1.2.1). */
const CERTIFICATE_VERSION = 2n;

/** RFC 5280 §4.1.2.2: 20 octets, of which the highest bit is the sign. */
const SERIAL_NUMBER_LIMIT = 2n ** 159n;

/**
 * Writes a TBSCertificate (RFC 5280 §4.1.2).
 *
 * @param options - `spki` is a SubjectPublicKeyInfo in DER
 * @throws RangeError when a field cannot be written, or makes no sense
 * @throws TypeError when the key is none
 */
export function writeTbsCertificate(
  fields: CertificateFields,
  options: {
    spki: Buffer;
    issuer: DerValue;
    issuerKeyIdentifier: Buffer;
    algorithm: DerValue;
  },
): DerValue {
  const { serialNumber, subject, notBefore, notAfter, extensions } = fields;
  if (serialNumber <= 0n || serialNumber >= SERIAL_NUMBER_LIMIT) {
    throw new RangeError('A serial number must be positive and below 2^159');
  }
  if (subject.length === 0) {
    throw new RangeError('A certificate must have a subject');
  }
  if (!(notBefore < notAfter)) {
    throw new RangeError('A certificate must be valid for some time');
  }
  return sequence(
    tagged(0, integer(CERTIFICATE_VERSION)),
    integer(serialNumber),
    options.algorithm,
    options.issuer,
    sequence(time(notBefore), time(notAfter)),
    writeName(subject),
    encoded(options.spki),
    tagged(
      3,
      writeExtensions(extensions, {
        subject: keyIdentifier(options.spki),
        authority: options.issuerKeyIdentifier,
      }),
    ),
  );
}
