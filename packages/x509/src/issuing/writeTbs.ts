import { randomBytes } from 'node:crypto';
import { encode, integer, sequence, tagged, time } from '../der/writeDer';
import { TAG } from '../der/DerNode';
import { OID } from '../der/oids';
import {
  CertificateExtensions,
  keyIdentifier,
  writeAuthorityKeyIdentifier,
  writeExtension,
  writeExtensions,
} from './writeExtensions';
import { NamePart, writeName } from './writeNames';

/**
 * The fields of a certificate to be issued.
 *
 * @public
 */
export interface CertificateFields {
  /** Positive, at most 20 octets; see {@link randomSerialNumber}. */
  readonly serialNumber: bigint;
  /**
   * Name parts in encoding order: `O`, then `CN`, which is displayed as
   * `CN=alice,O=EXAMPLE.TEST`.
   */
  readonly subject: readonly NamePart[];
  /** Fractions of a second are dropped. */
  readonly notBefore: Date;
  /** Last second at which the certificate is valid; fractions are dropped. */
  readonly notAfter: Date;
  /** Extensions of the certificate. */
  readonly extensions: CertificateExtensions;
}

/**
 * Revocation reasons with their codes (RFC 5280 §5.3.1).
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

/**
 * Name of a revocation reason.
 *
 * @public
 */
export type RevocationReason = keyof typeof REVOCATION_REASONS;

/**
 * An entry of a revocation list.
 *
 * @public
 */
export interface RevokedCertificate {
  /** Serial number of the revoked certificate. */
  readonly serialNumber: bigint;
  /** Fractions of a second are dropped. */
  readonly revokedAt: Date;
  /** Code of {@link REVOCATION_REASONS}. Default: 0, unspecified. */
  readonly reason?: number;
}

/**
 * The fields of a revocation list to be issued.
 *
 * @public
 */
export interface RevocationListFields {
  /** Greater than that of every earlier list. */
  readonly number: bigint;
  /** When the list is issued. */
  readonly thisUpdate: Date;
  /** Latest time at which the next list is issued. */
  readonly nextUpdate: Date;
  /** The entries, in order. */
  readonly revoked: readonly RevokedCertificate[];
}

/** The issuer of a certificate or revocation list; all in DER. */
export interface IssuerFields {
  readonly name: Buffer;
  readonly keyIdentifier: Buffer;
  /** AlgorithmIdentifier of the signature. */
  readonly algorithm: Buffer;
}

/** v3 (RFC 5280 §4.1.2.1). */
const CERTIFICATE_VERSION = 2n;

/** v2 (RFC 5280 §5.1.2.1). */
const LIST_VERSION = 1n;

/** RFC 5280 §§4.1.2.2, 5.2.3: 20 octets, of which the highest bit is the sign. */
const NUMBER_LIMIT = 2n ** 159n;

/**
 * Writes a TBSCertificate (RFC 5280 §4.1.2).
 *
 * @param fields - `spki` is a SubjectPublicKeyInfo in DER
 * @throws RangeError when a field is out of range or cannot be written
 * @throws TypeError when `spki` is not a SubjectPublicKeyInfo
 */
export function writeTbsCertificate(
  fields: CertificateFields & { readonly spki: Buffer },
  issuer: IssuerFields,
): Buffer {
  const { serialNumber, subject, notBefore, notAfter, spki } = fields;
  if (serialNumber <= 0n || serialNumber >= NUMBER_LIMIT) {
    throw new RangeError('A serial number must be positive and below 2^159');
  }
  if (subject.length === 0) {
    throw new RangeError('A certificate must have a subject');
  }
  if (!(notBefore < notAfter)) {
    throw new RangeError('notBefore must be earlier than notAfter');
  }
  const extensions = writeExtensions(fields.extensions, {
    subject: keyIdentifier(spki),
    authority: issuer.keyIdentifier,
  });
  return sequence(
    tagged(0, integer(CERTIFICATE_VERSION)),
    integer(serialNumber),
    issuer.algorithm,
    issuer.name,
    sequence(time(notBefore), time(notAfter)),
    writeName(subject),
    spki,
    tagged(3, extensions),
  );
}

/**
 * Writes a TBSCertList (RFC 5280 §5.1.2).
 *
 * @throws RangeError when a field is out of range or cannot be written
 */
export function writeTbsCertList(
  fields: RevocationListFields,
  issuer: IssuerFields,
): Buffer {
  const { number, thisUpdate, nextUpdate, revoked } = fields;
  if (number < 0n || number >= NUMBER_LIMIT) {
    throw new RangeError('A CRL number must be at least 0 and less than 2^159');
  }
  if (!(thisUpdate < nextUpdate)) {
    throw new RangeError('thisUpdate must be earlier than nextUpdate');
  }
  const entries = Buffer.concat(revoked.map(writeRevoked));
  return sequence(
    integer(LIST_VERSION),
    issuer.algorithm,
    issuer.name,
    time(thisUpdate),
    time(nextUpdate),
    // §5.1.2.6: absent when no certificate is revoked.
    ...(entries.length > 0 ? [encode(TAG.sequence, entries)] : []),
    tagged(
      0,
      sequence(
        writeAuthorityKeyIdentifier(issuer.keyIdentifier),
        writeExtension(OID.crlNumber, integer(number)),
      ),
    ),
  );
}

function writeRevoked(entry: RevokedCertificate): Buffer {
  const { serialNumber, revokedAt, reason = 0 } = entry;
  const fields = [integer(serialNumber), time(revokedAt)];
  // §5.3.1: an unspecified reason is omitted.
  if (reason !== REVOCATION_REASONS.unspecified) {
    const code = encode(TAG.enumerated, Buffer.of(reason));
    fields.push(sequence(writeExtension(OID.reasonCode, code)));
  }
  return sequence(...fields);
}

/**
 * Returns a serial number of 127 random bits: positive and at most 16 octets in DER. The CA/Browser
 * Forum's Baseline Requirements §7.1 require 64 bits of entropy.
 *
 * @public
 */
export function randomSerialNumber(): bigint {
  const bits = BigInt(`0x${randomBytes(16).toString('hex')}`);
  // RFC 5280 §4.1.2.2 forbids zero.
  return BigInt.asUintN(127, bits) || randomSerialNumber();
}
