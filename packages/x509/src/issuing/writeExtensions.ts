import { createHash } from 'node:crypto';
import { catchDerError } from '../der/DerNode';
import { OID } from '../der/oids';
import { readBitStringOctets, readChildren } from '../der/readDer';
import { readStrictDer } from '../der/readStrictDer';
import {
  bitString,
  objectIdentifier,
  octetString,
  sequence,
  tagged,
  taggedOctets,
  TRUE,
} from '../der/writeDer';
import { KEY_USAGES, KeyUsage, purposeOid } from '../extensions/extensions';
import { WritableGeneralName, writeGeneralName } from './writeNames';

/**
 * The extensions of a certificate to be issued. Omitted extensions are not
 * written; the identifiers of the subject's and the issuer's key are always
 * written.
 *
 * @public
 */
export interface CertificateExtensions {
  /** Whether the certificate is a CA's. Default: false. */
  readonly ca?: boolean;
  /** Usages of the key; the extension is critical. */
  readonly keyUsage?: readonly KeyUsage[];
  /** Names of purposes (`clientAuth`, see {@link KeyPurpose}), or OIDs. */
  readonly extendedKeyUsage?: readonly string[];
  /** Names of the subject other than its subject field. */
  readonly alternativeNames?: readonly WritableGeneralName[];
  /** URLs of the revocation list. */
  readonly crlDistributionPoints?: readonly string[];
  /** URLs of the issuer's certificate, DER (`id-ad-caIssuers` of AuthorityInfoAccess). */
  readonly caIssuers?: readonly string[];
}

/**
 * Writes the Extensions of a certificate (RFC 5280 §4.2).
 *
 * @throws RangeError when a list is empty, or a value does not fit its type
 */
export function writeExtensions(
  extensions: CertificateExtensions,
  keyIdentifiers: { subject: Buffer; authority: Buffer },
): Buffer {
  const {
    ca = false,
    keyUsage,
    extendedKeyUsage,
    alternativeNames,
    crlDistributionPoints,
    caIssuers,
  } = extensions;
  const written = [
    // RFC 5280 §4.2.1.9, without a default value (X.690 §11.5).
    writeExtension(OID.basicConstraints, ca ? sequence(TRUE) : sequence(), {
      critical: true,
    }),
    writeExtension(
      OID.subjectKeyIdentifier,
      octetString(keyIdentifiers.subject),
    ),
    writeAuthorityKeyIdentifier(keyIdentifiers.authority),
  ];
  if (keyUsage) {
    written.push(
      writeExtension(OID.keyUsage, writeKeyUsage(keyUsage), { critical: true }),
    );
  }
  if (extendedKeyUsage) {
    const purposes = writeList(extendedKeyUsage, purpose =>
      objectIdentifier(purposeOid(purpose)),
    );
    written.push(writeExtension(OID.extendedKeyUsage, purposes));
  }
  if (alternativeNames) {
    const names = writeList(alternativeNames, writeGeneralName);
    written.push(writeExtension(OID.subjectAltName, names));
  }
  if (crlDistributionPoints) {
    const points = writeList(crlDistributionPoints, writeDistributionPoint);
    written.push(writeExtension(OID.crlDistributionPoints, points));
  }
  if (caIssuers) {
    const descriptions = writeList(caIssuers, writeIssuerLocation);
    written.push(writeExtension(OID.authorityInfoAccess, descriptions));
  }
  return sequence(...written);
}

/** RFC 5280 §4.2.1.1, in the form with the key's identifier alone. */
export function writeAuthorityKeyIdentifier(identifier: Buffer): Buffer {
  return writeExtension(
    OID.authorityKeyIdentifier,
    sequence(taggedOctets(0, identifier)),
  );
}

/** Writes one extension (RFC 5280 §4.1). */
export function writeExtension(
  oid: string,
  value: Buffer,
  options: { critical: boolean } = { critical: false },
): Buffer {
  // X.690 §11.5: a value that equals its default is omitted.
  const critical = options.critical ? [TRUE] : [];
  return sequence(objectIdentifier(oid), ...critical, octetString(value));
}

/** RFC 5280 §4.2.1.3, without trailing zero bits (X.690 §11.2.2). */
function writeKeyUsage(usages: readonly KeyUsage[]): Buffer {
  if (usages.length === 0) {
    throw new RangeError('A key usage must not be empty');
  }
  const positions = usages.map(usage => KEY_USAGES.indexOf(usage));
  const last = Math.max(...positions);
  const octets = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const position of positions) {
    octets[Math.floor(position / 8)] |= 0x80 >> (position % 8);
  }
  return bitString(octets, 7 - (last % 8));
}

/** RFC 5280 §4.2.1.13: one point with one full name. */
function writeDistributionPoint(url: string): Buffer {
  const fullName = tagged(0, writeGeneralName({ kind: 'uri', value: url }));
  return sequence(tagged(0, fullName));
}

/** AccessDescription of RFC 5280 §4.2.2.1. */
function writeIssuerLocation(url: string): Buffer {
  return sequence(
    objectIdentifier(OID.caIssuers),
    writeGeneralName({ kind: 'uri', value: url }),
  );
}

function writeList<T>(
  values: readonly T[],
  write: (value: T) => Buffer,
): Buffer {
  if (values.length === 0) {
    throw new RangeError('A list in an extension must not be empty');
  }
  return sequence(...values.map(write));
}

/**
 * Identifies a public key by the first 160 bits of the SHA-256 of its bits (RFC 7093 §2, method 1).
 *
 * @throws TypeError when the bytes are not a SubjectPublicKeyInfo in DER
 */
export function keyIdentifier(spki: Buffer): Buffer {
  const bits = catchDerError(
    () => readBitStringOctets(readChildren(readStrictDer(spki))[1]),
    () => {
      throw new TypeError('A public key is not a SubjectPublicKeyInfo');
    },
  );
  return createHash('sha256').update(bits).digest().subarray(0, 20);
}
