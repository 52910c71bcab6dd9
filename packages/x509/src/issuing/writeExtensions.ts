import {
  bitString,
  boolean,
  DerValue,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  tagged,
  taggedOctets,
} from '../der/writeDer';
import { writeGeneralName } from './writeNames';
import { OID } from '../der/oids';
import { CertificateExtensions } from './CertificateExtensions';
import { KEY_PURPOSES, KEY_USAGES, KeyUsage } from '../extensions/keyUsages';
import { writeExtension } from './writeExtension';

const PURPOSE_OIDS: ReadonlyMap<string, string> = new Map(
  Object.entries(KEY_PURPOSES),
);

/**
 * Writes the Extensions of a certificate (RFC 5280 §4.2).
 *
 * @throws RangeError when a list is empty, or a value does not fit its type
 */
export function writeExtensions(
  extensions: CertificateExtensions,
  keyIdentifiers: { subject: Buffer; authority: Buffer },
): DerValue {
  const {
    keyUsage,
    extendedKeyUsage,
    alternativeNames,
    crlDistributionPoints,
  } = extensions;
  const { subject, authority } = keyIdentifiers;
  const written = [
    writeExtension(
      OID.basicConstraints,
      basicConstraints(extensions.basicConstraints),
      {
        critical: true,
      },
    ),
    writeExtension(OID.subjectKeyIdentifier, octetString(subject)),
    writeAuthorityKeyIdentifier(authority),
  ];
  if (keyUsage) {
    written.push(
      writeExtension(OID.keyUsage, keyUsageBits(keyUsage), { critical: true }),
    );
  }
  if (extendedKeyUsage) {
    written.push(
      writeExtension(
        OID.extendedKeyUsage,
        listOf(extendedKeyUsage, keyPurpose),
      ),
    );
  }
  if (alternativeNames) {
    written.push(
      writeExtension(
        OID.subjectAltName,
        listOf(alternativeNames, writeGeneralName),
      ),
    );
  }
  if (crlDistributionPoints) {
    const points = listOf(crlDistributionPoints, distributionPoint);
    written.push(writeExtension(OID.crlDistributionPoints, points));
  }
  return sequence(...written);
}

/** RFC 5280 §4.2.1.1, in the form with the key's identifier alone. */
export function writeAuthorityKeyIdentifier(identifier: Buffer): DerValue {
  return writeExtension(
    OID.authorityKeyIdentifier,
    sequence(taggedOctets(0, identifier)),
  );
}

/** RFC 5280 §4.2.1.9. */
function basicConstraints(
  constraints: CertificateExtensions['basicConstraints'],
): DerValue {
  if (!constraints.ca) {
    return sequence();
  }
  const { pathLength } = constraints;
  return pathLength === undefined
    ? sequence(boolean(true))
    : sequence(boolean(true), integer(BigInt(pathLength)));
}

/** RFC 5280 §4.2.1.3, without trailing zero bits (X.690 §11.2.2). */
function keyUsageBits(usages: readonly KeyUsage[]): DerValue {
  if (usages.length === 0) {
    throw new RangeError('A key without any usage');
  }
  const positions = usages.map(usage => KEY_USAGES.indexOf(usage));
  const last = Math.max(...positions);
  const octets = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const position of positions) {
    octets[Math.floor(position / 8)] |= 0x80 >> position % 8;
  }
  return bitString(octets, 7 - (last % 8));
}

function keyPurpose(purpose: string): DerValue {
  return objectIdentifier(PURPOSE_OIDS.get(purpose) ?? purpose);
}

/** RFC 5280 §4.2.1.13: one point with one full name. */
function distributionPoint(url: string): DerValue {
  const fullName = tagged(0, writeGeneralName({ kind: 'uri', value: url }));
  return sequence(tagged(0, fullName));
}

function listOf<T>(
  values: readonly T[],
  write: (value: T) => DerValue,
): DerValue {
  if (values.length === 0) {
    throw new RangeError('An extension with an empty list');
  }
  return sequence(...values.map(write));
}
