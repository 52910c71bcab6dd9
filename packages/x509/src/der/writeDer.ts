import { asn1 } from 'node-forge';
import { TAG } from './DerNode';
import { parseWithForge } from './parseWithForge';

const { Class, Type } = asn1;

/** Forge has no name for this one. */
const GENERAL_STRING: number = TAG.generalString;

/** A value that is still to be encoded. */
export type DerValue = asn1.Asn1;

/** The encoding of a value. */
export function encode(value: DerValue): Buffer {
  return Buffer.from(asn1.toDer(value).getBytes(), 'latin1');
}

/**
 * A value that is encoded already, as it is.
 *
 * @throws TypeError when it is not DER
 */
export function encoded(der: Uint8Array): DerValue {
  const value = tryParse(der);
  if (!value || !encode(value).equals(der)) {
    throw new TypeError('A value to be written is not DER');
  }
  return value;
}

function tryParse(der: Uint8Array): DerValue | undefined {
  try {
    return parseWithForge(der);
  } catch {
    return undefined;
  }
}

export function sequence(...values: readonly DerValue[]): DerValue {
  return asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [...values]);
}

/** A SET OF one value, whose order needs no care. */
export function setOf(value: DerValue): DerValue {
  return asn1.create(Class.UNIVERSAL, Type.SET, true, [value]);
}

/** The value inside of `[number]`, as EXPLICIT has it, or the fields of an IMPLICIT structure. */
export function tagged(
  number: number,
  ...values: readonly DerValue[]
): DerValue {
  return asn1.create(Class.CONTEXT_SPECIFIC, number, true, [...values]);
}

/** Octets behind `[number]` IMPLICIT of a primitive type. */
export function taggedOctets(number: number, octets: Uint8Array): DerValue {
  return asn1.create(Class.CONTEXT_SPECIFIC, number, false, toBinary(octets));
}

/** @throws RangeError when it is none, or has an arc of more than 32 bits */
export function objectIdentifier(oid: string): DerValue {
  if (!/^[0-2](?:\.\d+)+$/.test(oid)) {
    throw new RangeError(`${oid} is no object identifier`);
  }
  try {
    return primitive(Type.OID, asn1.oidToDer(oid).getBytes());
  } catch {
    throw new RangeError(`${oid} is no object identifier that can be written`);
  }
}

export function boolean(value: boolean): DerValue {
  return primitive(Type.BOOLEAN, value ? '\xff' : '\0');
}

export function nullValue(): DerValue {
  return primitive(Type.NULL, '');
}

/** @throws RangeError when the number is negative */
export function integer(value: bigint): DerValue {
  if (value < 0n) {
    throw new RangeError('A number to be written must not be negative');
  }
  return primitive(Type.INTEGER, toBinary(toOctets(value)));
}

export function enumerated(value: number): DerValue {
  return primitive(Type.ENUMERATED, toBinary(toOctets(BigInt(value))));
}

export function octetString(octets: Uint8Array): DerValue {
  return primitive(Type.OCTETSTRING, toBinary(octets));
}

/** @param unusedBits - how many of the last octet's lowest bits are no part of the string */
export function bitString(octets: Uint8Array, unusedBits = 0): DerValue {
  return primitive(
    Type.BITSTRING,
    String.fromCharCode(unusedBits) + toBinary(octets),
  );
}

export function utf8String(text: string): DerValue {
  return primitive(Type.UTF8, toBinary(Buffer.from(text)));
}

export function printableString(text: string): DerValue {
  return primitive(Type.PRINTABLESTRING, text);
}

export function ia5String(text: string): DerValue {
  return primitive(Type.IA5STRING, text);
}

export function generalString(text: string): DerValue {
  return primitive(GENERAL_STRING, text);
}

/**
 * RFC 5280 §4.1.2.5: UTCTime through 2049, GeneralizedTime from then on; seconds, and Z.
 *
 * @throws RangeError when it is no time, or not of the years 0 to 9999
 */
export function time(date: Date): DerValue {
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) {
    throw new RangeError('A time to be written must be of the years 0 to 9999');
  }
  const digits = date.toISOString().slice(0, 19).replace(/\D/g, '');
  return year >= 1950 && year < 2050
    ? primitive(Type.UTCTIME, `${digits.slice(2)}Z`)
    : primitive(Type.GENERALIZEDTIME, `${digits}Z`);
}

function primitive(type: asn1.Type, content: string): DerValue {
  return asn1.create(Class.UNIVERSAL, type, false, content);
}

/** The shortest octets whose highest bit is no sign. */
function toOctets(value: bigint): Buffer {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return octets[0] >= 0x80 ? Buffer.concat([Buffer.of(0), octets]) : octets;
}

/** forge keeps octets as the characters U+0000 to U+00FF of a string. */
function toBinary(octets: Uint8Array): string {
  return Buffer.from(octets).toString('latin1');
}
