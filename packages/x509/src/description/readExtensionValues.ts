import { DerError } from '../der/DerError';
import { contextTag, DerNode, TAG, tagNumberOf } from '../der/DerNode';
import { parseDer } from '../der/parseDer';
import {
  expectTag,
  readBoolean,
  readChildren,
  readObjectIdentifier,
  readOctetString,
} from '../der/readDer';
import { KEY_PURPOSES, KEY_USAGES, KeyUsage } from '../extensions/keyUsages';
import { GeneralName } from '../names/GeneralName';
import { readGeneralName } from '../names/readGeneralName';

const PURPOSES_BY_OID = new Map<string, string>(
  Object.entries(KEY_PURPOSES).map(([name, oid]) => [oid, name]),
);

/** RFC 5280 §4.2.1.9. */
export function readIsCa(value: Buffer): boolean {
  const [ca] = readChildren(parseDer(value));
  return ca?.tag === TAG.boolean && readBoolean(ca);
}

/** RFC 5280 §4.2.1.3. The first bit is the highest of the first octet. */
export function readKeyUsage(value: Buffer): readonly KeyUsage[] {
  const bits = expectTag(parseDer(value), TAG.bitString).content.subarray(1);
  return Object.freeze(
    KEY_USAGES.filter(
      (_, index) =>
        ((bits[Math.floor(index / 8)] ?? 0) & (0x80 >> index % 8)) !== 0,
    ),
  );
}

/** RFC 5280 §4.2.1.12. */
export function readExtendedKeyUsage(value: Buffer): readonly string[] {
  const oids = readChildren(parseDer(value)).map(readObjectIdentifier);
  return Object.freeze(oids.map(oid => PURPOSES_BY_OID.get(oid) ?? oid));
}

/** RFC 5280 §4.2.1.2. */
export function readSubjectKeyIdentifier(value: Buffer): string {
  return readOctetString(parseDer(value)).toString('hex');
}

/** RFC 5280 §4.2.1.1; undefined when it names the issuer in another way. */
export function readAuthorityKeyIdentifier(value: Buffer): string | undefined {
  return readChildren(parseDer(value))
    .find(field => field.tag === contextTag(0))
    ?.content.toString('hex');
}

/** RFC 5280 §4.2.1.6. A name that cannot be read is `unsupported`. */
export function readAlternativeNames(value: Buffer): readonly GeneralName[] {
  return Object.freeze(readChildren(parseDer(value)).map(readNameOfAnyKind));
}

function readNameOfAnyKind(node: DerNode): GeneralName {
  try {
    return readGeneralName(node);
  } catch (error) {
    if (error instanceof DerError) {
      return Object.freeze({
        kind: 'unsupported',
        tagNumber: tagNumberOf(node),
      });
    }
    throw error;
  }
}
