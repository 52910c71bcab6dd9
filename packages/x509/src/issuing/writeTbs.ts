import {
  DerValue,
  enumerated,
  integer,
  sequence,
  tagged,
  time,
} from '../der/writeDer';
import { writeExtension } from './writeExtension';
import { writeAuthorityKeyIdentifier } from './writeExtensions';
import { OID } from '../der/oids';
import {
  REVOCATION_REASONS,
  RevocationListFields,
  RevokedCertificate,
} from './RevocationListFields';

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
