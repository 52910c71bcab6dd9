import { TAG, constructedContextTag, contextTag } from './DerNode';

/** Encodes one value: identifier octet, length in its shortest form, contents (X.690 §8.1). */
export function encode(
  tag: number,
  ...contents: readonly Uint8Array[]
): Buffer {
  const length = contents.reduce((sum, { length: octets }) => sum + octets, 0);
  const digits = length < 0x80 ? undefined : minimalOctets(BigInt(length));
  const header = 2 + (digits?.length ?? 0);
  const der = Buffer.allocUnsafe(header + length);
  der[0] = tag;
  der[1] = digits ? 0x80 + digits.length : length;
  digits?.copy(der, 2);
  let end = header;
  for (const part of contents) {
    der.set(part, end);
    end += part.length;
  }
  return der;
}

export function sequence(...values: readonly Buffer[]): Buffer {
  return encode(TAG.sequence, ...values);
}

/**
 * Encodes the value inside `[number]` EXPLICIT, or the fields of an IMPLICIT
 * structure.
 */
export function tagged(number: number, ...values: readonly Buffer[]): Buffer {
  return encode(constructedContextTag(number), ...values);
}

/** Encodes the octets of a primitive type tagged `[number]` IMPLICIT. */
export function taggedOctets(number: number, octets: Uint8Array): Buffer {
  return encode(contextTag(number), octets);
}

/**
 * Cache of encoded OIDs: they are constants and configured purposes, so there
 * are few.
 */
const oidCache = new Map<string, Buffer>();

/** @throws RangeError when the text is not an OID, or has an arc of more than 53 bits */
export function objectIdentifier(oid: string): Buffer {
  const der = oidCache.get(oid) ?? encode(TAG.oid, encodeArcs(oid));
  oidCache.set(oid, der);
  return der;
}

function encodeArcs(oid: string): Buffer {
  const [first, second, ...rest] = /^[0-2](?:\.\d+)+$/.test(oid)
    ? oid.split('.').map(Number)
    : [];
  // X.690 §8.19.4: the first two arcs share a number.
  const arcs = [40 * first + second, ...rest];
  if (!arcs.every(Number.isSafeInteger) || (first < 2 && second > 39)) {
    throw new RangeError(`${oid} is not an object identifier`);
  }
  return Buffer.from(arcs.flatMap(base128));
}

/**
 * Encodes an arc in digits of seven bits; all except the last have the highest
 * bit set.
 */
function base128(arc: number): number[] {
  const digits = [arc % 128];
  for (
    let rest = Math.floor(arc / 128);
    rest > 0;
    rest = Math.floor(rest / 128)
  ) {
    digits.unshift(128 + (rest % 128));
  }
  return digits;
}

export const TRUE = encode(TAG.boolean, Buffer.of(0xff));
export const NULL = encode(TAG.null);

/** @throws RangeError when the number is negative */
export function integer(value: bigint): Buffer {
  if (value < 0n) {
    throw new RangeError('A number in a certificate must not be negative');
  }
  const octets = minimalOctets(value);
  return octets[0] < 0x80
    ? encode(TAG.integer, octets)
    : encode(TAG.integer, Buffer.of(0), octets);
}

/** @param unusedBits - lowest bits of the last octet that are not part of the string */
export function bitString(octets: Uint8Array, unusedBits = 0): Buffer {
  return encode(TAG.bitString, Buffer.of(unusedBits), octets);
}

export function octetString(octets: Uint8Array): Buffer {
  return encode(TAG.octetString, octets);
}

export function utf8String(text: string): Buffer {
  return encode(TAG.utf8String, Buffer.from(text));
}

/**
 * Encodes a time in UTC and whole seconds: UTCTime through 2049, then
 * GeneralizedTime (RFC 5280 §4.1.2.5).
 *
 * @throws RangeError when the date is invalid, or its year is not from 0 to 9999
 */
export function time(date: Date): Buffer {
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) {
    throw new RangeError('A time must be in the years 0 to 9999');
  }
  const digits = date.toISOString().slice(0, 19).replace(/\D/g, '');
  return year >= 1950 && year < 2050
    ? encode(TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : encode(TAG.generalizedTime, Buffer.from(`${digits}Z`));
}

function minimalOctets(value: bigint): Buffer {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
}
