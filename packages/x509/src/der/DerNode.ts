/**
 * One value of a parsed DER text. Its bytes are views of the text: nothing is copied.
 */
export interface DerNode {
  /** The identifier octet: class, constructed bit and tag number (X.690 §8.1.2). */
  readonly tag: number;
  /** The whole encoding, header included. */
  readonly der: Buffer;
  /** What the header announces. */
  readonly content: Buffer;
  /** The values inside a constructed one; empty for a primitive one. */
  readonly children: readonly DerNode[];
}

/** Identifier octets of the universal types that X.509 has use for. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  generalString: 0x1b,
  universalString: 0x1c,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The bit of the identifier octet that says "made of other values". */
export const CONSTRUCTED = 0x20;

/** Identifier octet of `[number]` around or instead of a primitive value. */
export function contextTag(number: number): number {
  return 0x80 + number;
}

/** Identifier octet of `[number]` around or instead of a constructed value. */
export function constructedContextTag(number: number): number {
  return contextTag(number) + CONSTRUCTED;
}

/** The tag number of a value, whatever its class. */
export function tagNumberOf(node: DerNode): number {
  return node.tag % CONSTRUCTED;
}

/**
 * Why bytes are no usable DER:
 *
 * - `malformed`: not DER at all, or cut off, or not what the grammar has at this place
 * - `trailing`: bytes are left after the value
 * - `complex`: nested too deep, or too many values
 */
export type DerTrouble = 'malformed' | 'trailing' | 'complex';

/**
 * Thrown inside this package while reading; never crosses its border. Its message names the rule
 * that was broken, and never holds any of the bytes.
 */
export class DerError extends Error {
  readonly trouble: DerTrouble;

  constructor(message: string, trouble: DerTrouble = 'malformed') {
    super(message);
    this.name = 'DerError';
    this.trouble = trouble;
  }
}
