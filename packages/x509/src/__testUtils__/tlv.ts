import { OID } from '../der/oids';

/** Writes a value in DER with any tag and content, valid or not. */
export function tlv(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tag), lengthOctets(value.length), value]);
}

/** Writes a primitive value with text. */
export function text(tag: number, value: string): Buffer {
  return tlv(tag, Buffer.from(value));
}

export function seq(...values: readonly Uint8Array[]): Buffer {
  return tlv(0x30, ...values);
}

export function set(...values: readonly Uint8Array[]): Buffer {
  return tlv(0x31, ...values);
}

/** Writes an INTEGER in its shortest form. */
export function int(value: bigint): Buffer {
  let length = 1;
  while (value !== BigInt.asIntN(8 * length, value)) {
    length += 1;
  }
  const hex = BigInt.asUintN(8 * length, value)
    .toString(16)
    .padStart(2 * length, '0');
  return tlv(0x02, Buffer.from(hex, 'hex'));
}

export function bits(content: Uint8Array, unused = 0): Buffer {
  return tlv(0x03, Buffer.of(unused), content);
}

export function octets(content: Uint8Array): Buffer {
  return tlv(0x04, content);
}

export const TRUE = tlv(0x01, Buffer.of(0xff));
export const FALSE = tlv(0x01, Buffer.of(0));
export const NULL = tlv(0x05);

/**
 * Writes an OBJECT IDENTIFIER, given in dotted form or by its name in `OID`.
 */
export function oid(dotted: string): Buffer {
  const known: Readonly<Record<string, string>> = OID;
  const [first, second, ...rest] = (known[dotted] ?? dotted)
    .split('.')
    .map(BigInt);
  return tlv(0x06, ...[first * 40n + second, ...rest].map(arcOctets));
}

function arcOctets(arc: bigint): Buffer {
  const digits = [Number(arc % 128n)];
  for (let rest = arc / 128n; rest > 0n; rest /= 128n) {
    digits.unshift(128 + Number(rest % 128n));
  }
  return Buffer.from(digits);
}

function lengthOctets(length: number): Buffer {
  if (length < 0x80) {
    return Buffer.of(length);
  }
  const hex = length.toString(16);
  const digits = Buffer.from(
    hex.padStart(hex.length + (hex.length % 2), '0'),
    'hex',
  );
  return Buffer.concat([Buffer.of(0x80 + digits.length), digits]);
}
