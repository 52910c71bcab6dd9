import {
  DerValue,
  bitString,
  boolean,
  encode,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  tagged,
  taggedOctets,
} from '../der/writeDer';
import { WritableGeneralName, writeGeneralName } from './writeNames';
import { OID } from '../der/oids';
import { KEY_PURPOSES, KEY_USAGES, KeyUsage } from '../extensions/extensions';
import { createHash } from 'node:crypto';
import { DerError } from '../der/DerNode';
import { parseDer } from '../der/parseDer';
import { readBitStringOctets, readChildren } from '../der/readDer';

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

/** Writes one extension (RFC 5280 §4.1); `critical` is left out when it is false, as DER has it. */
export function writeExtension(
  oid: string,
  value: DerValue,
  options: { critical: boolean } = { critical: false },
): DerValue {
  return sequence(
    objectIdentifier(oid),
    ...(options.critical ? [boolean(true)] : []),
    octetString(encode(value)),
  );
}

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

/**
 * Names a public key by the first 160 bits of the SHA-256 of its bits (RFC 7093 §2, method 1).
 *
 * @param spki - a SubjectPublicKeyInfo in DER
 * @throws TypeError when it is none
 */
export function keyIdentifier(spki: Buffer): Buffer {
  return createHash('sha256').update(keyBits(spki)).digest().subarray(0, 20);
}

function keyBits(spki: Buffer): Buffer {
  try {
    const [, key] = readChildren(parseDer(spki));
    return readBitStringOctets(key);
  } catch (error) {
    throw error instanceof DerError
      ? new TypeError('A public key is no SubjectPublicKeyInfo')
      : error;
  }
}
