/** A parsed value. Its buffers are views of the input. */
export interface DerNode {
  /** The identifier octet: class, constructed bit and tag number (X.690 §8.1.2). */
  readonly tag: number;
  /** The complete encoding, including the header. */
  readonly der: Buffer;
  /** The contents octets. */
  readonly content: Buffer;
  /** The values inside a constructed value; empty for a primitive value. */
  readonly children: readonly DerNode[];
}

/** Identifier octets of the universal types that X.509 uses. */
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

/** The constructed bit of the identifier octet. */
export const CONSTRUCTED = 0x20;

/** Identifier octet of `[number]` for a primitive value. */
export function contextTag(number: number): number {
  return 0x80 + number;
}

/** Identifier octet of `[number]` for a constructed value. */
export function constructedContextTag(number: number): number {
  return contextTag(number) + CONSTRUCTED;
}

/**
 * Why bytes are rejected:
 *
 * - `malformed`: not DER, truncated, or not the type that the grammar requires
 * - `trailing`: bytes follow the value
 * - `complex`: nested too deeply, or too many values
 */
export type DerErrorKind = 'malformed' | 'trailing' | 'complex';

/**
 * Thrown while reading DER; internal to this package. Its message states the
 * violated rule and does not contain any of the bytes.
 */
export class DerError extends Error {
  readonly kind: DerErrorKind;

  constructor(message: string, kind: DerErrorKind = 'malformed') {
    super(message);
    this.name = 'DerError';
    this.kind = kind;
  }
}

/** Returns the result of `read`, or that of `handle` when `read` throws a DerError. */
export function catchDerError<T>(
  read: () => T,
  handle: (error: DerError) => T,
): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerError) {
      return handle(error);
    }
    throw error;
  }
}
