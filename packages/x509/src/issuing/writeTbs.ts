import {
  DerValue,
  encoded,
  enumerated,
  integer,
  sequence,
  tagged,
  time,
} from '../der/writeDer';
import {
  CertificateExtensions,
  keyIdentifier,
  writeAuthorityKeyIdentifier,
  writeExtension,
  writeExtensions,
} from './writeExtensions';
import { OID } from '../der/oids';
import { NamePart, writeName } from './writeNames';

/**
 * Why a certificate was revoked, with the code of each reason (RFC 5280 §5.3.1).
 *
 * @public
 */
export const REVOCATION_REASONS = {
  unspecified: 0,
  keyCompromise: 1,
  cACompromise: 2,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  certificateHold: 6,
  removeFromCRL: 8,
  privilegeWithdrawn: 9,
  aACompromise: 10,
} as const;

/** v2 (RFC 5280 §5.1.2.1). */
const LIST_VERSION = 1n;

/** RFC 5280 §5.2.3: 20 octets. */
const NUMBER_LIMIT = 2n ** 159n;

/**
 * Writes a TBSCertList (RFC 5280 §5.1.2).
 *
 * @throws RangeError when a field cannot be written, or makes no sense
 */
export function writeTbsCertList(
  fields: RevocationListFields,
  options: {
    issuer: DerValue;
    issuerKeyIdentifier: Buffer;
    algorithm: DerValue;
  },
): DerValue {
  const { number, thisUpdate, nextUpdate, revoked } = fields;
  if (number < 0n || number >= NUMBER_LIMIT) {
    throw new RangeError(
      'The number of a revocation list must be positive and below 2^159',
    );
  }
  if (!(thisUpdate < nextUpdate)) {
    throw new RangeError('A revocation list must be valid for some time');
  }
  return sequence(
    integer(LIST_VERSION),
    options.algorithm,
    options.issuer,
    time(thisUpdate),
    time(nextUpdate),
    // §5.1.2.6: absent when there are none.
    ...(revoked.length > 0 ? [sequence(...revoked.map(writeRevoked))] : []),
    tagged(
      0,
      sequence(
        writeAuthorityKeyIdentifier(options.issuerKeyIdentifier),
        writeExtension(OID.crlNumber, integer(number)),
      ),
    ),
  );
}

function writeRevoked({
  serialNumber,
  revokedAt,
  reason,
}: RevokedCertificate): DerValue {
  const fields = [integer(serialNumber), time(revokedAt)];
  // §5.3.1: an unspecified reason is left out.
  if (reason && reason !== 'unspecified') {
    const code = enumerated(REVOCATION_REASONS[reason]);
    fields.push(sequence(writeExtension(OID.reasonCode, code)));
  }
  return sequence(...fields);
}

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

/**
 * The name of a reason for revoking.
 *
 * @public
 */
export type RevocationReason = keyof typeof REVOCATION_REASONS;

/**
 * A certificate that is no longer to be trusted.
 *
 * @public
 */
export interface RevokedCertificate {
  readonly serialNumber: bigint;
  /** Fractions of a second are dropped. */
  readonly revokedAt: Date;
  /** Default: `unspecified`. */
  readonly reason?: RevocationReason;
}

/**
 * What a revocation list is to say.
 *
 * @public
 */
export interface RevocationListFields {
  /** Above that of every list before. */
  readonly number: bigint;
  readonly thisUpdate: Date;
  /** When the next list is there at the latest. */
  readonly nextUpdate: Date;
  readonly revoked: readonly RevokedCertificate[];
}
