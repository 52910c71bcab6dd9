import { DerError, DerNode, TAG } from './DerNode';

/** @throws DerError unless the value is of this type */
export function expectTag(node: DerNode | undefined, tag: number): DerNode {
  if (node?.tag !== tag) {
    throw new DerError('A value of another type was expected');
  }
  return node;
}

/** Returns the values of a SEQUENCE, or of another constructed type. */
export function readChildren(
  node: DerNode | undefined,
  tag: number = TAG.sequence,
): readonly DerNode[] {
  return expectTag(node, tag).children;
}

/** Returns the value inside an explicit tag, or the only one of a list. */
export function readOnlyChild(node: DerNode | undefined, tag: number): DerNode {
  const children = readChildren(node, tag);
  if (children.length !== 1) {
    throw new DerError('Exactly one value was expected');
  }
  return children[0];
}

/** Returns an OBJECT IDENTIFIER in dotted decimal. */
export function readObjectIdentifier(node: DerNode | undefined): string {
  return decodeObjectIdentifier(expectTag(node, TAG.oid).content);
}

/**
 * Reads an INTEGER: two's complement, most significant octet first (X.690
 * §8.3.3).
 */
export function readInteger(node: DerNode | undefined): bigint {
  const { content } = expectTag(node, TAG.integer);
  if (content.length === 0) {
    throw new DerError('An INTEGER is empty');
  }
  return BigInt.asIntN(8 * content.length, toBigInt(content));
}

/** Returns octets as an unsigned number. */
export function toBigInt(octets: Buffer): bigint {
  return octets.length === 0 ? 0n : BigInt(`0x${octets.toString('hex')}`);
}

export function readBoolean(node: DerNode | undefined): boolean {
  const { content } = expectTag(node, TAG.boolean);
  if (content.length !== 1) {
    throw new DerError('A BOOLEAN must have one octet');
  }
  return content[0] !== 0;
}

export function readOctetString(node: DerNode | undefined): Buffer {
  return expectTag(node, TAG.octetString).content;
}

/** Returns the octets of a BIT STRING without unused bits. */
export function readBitStringOctets(node: DerNode | undefined): Buffer {
  const { content } = expectTag(node, TAG.bitString);
  if (content[0] !== 0) {
    throw new DerError('A BIT STRING has unused bits');
  }
  return content.subarray(1);
}

export function isNull(node: DerNode | undefined): boolean {
  return node?.tag === TAG.null && node.content.length === 0;
}

/**
 * Maximum octets of an OID. X.660 has no limit; OIDs in use are shorter than 40
 * octets.
 */
const MAX_OCTETS = 64;

/**
 * The highest bit of an octet is set when its arc continues; the other seven
 * bits are a digit.
 */
const MORE = 0x80;

/**
 * Checks the content of an OBJECT IDENTIFIER.
 *
 * @throws DerError when an arc is truncated or padded (X.690 §8.19.2), or the whole is oversized
 */
export function checkObjectIdentifier(content: Buffer): void {
  const { length } = content;
  if (length === 0 || length > MAX_OCTETS || content[length - 1] >= MORE) {
    throw new DerError('An OBJECT IDENTIFIER is empty, oversized or truncated');
  }
  for (let index = 0; index < length; index++) {
    const startsArc = index === 0 || content[index - 1] < MORE;
    if (startsArc && content[index] === MORE) {
      throw new DerError('An arc of an OBJECT IDENTIFIER is padded');
    }
  }
}

/**
 * Decodes the content of an OBJECT IDENTIFIER to dotted decimal. Arcs may have
 * any size: 32-bit or 53-bit arithmetic could wrap a large arc around to a
 * well-known one (CVE-2025-66030).
 *
 * @throws DerError as {@link checkObjectIdentifier}
 */
export function decodeObjectIdentifier(content: Buffer): string {
  checkObjectIdentifier(content);
  const arcs = [0n];
  for (const octet of content) {
    arcs.push(arcs.pop()! * 128n + BigInt(octet % MORE));
    if (octet < MORE) {
      arcs.push(0n);
    }
  }
  const [head, ...others] = arcs.slice(0, -1);
  // X.690 §8.19.4: the first two arcs share a number, and only under 2 may the second exceed 39.
  const first = head < 80n ? head / 40n : 2n;
  return [first, head - 40n * first, ...others].join('.');
}

/**
 * Old values may lack seconds, or have an offset such as `+0130` instead of
 * `Z`, or a fraction.
 */
const TIME_GRAMMARS: ReadonlyMap<number, RegExp> = new Map([
  [TAG.utcTime, /^(\d\d)(\d{8})(\d\d)?(Z|[+-]\d{4})$/],
  [TAG.generalizedTime, /^(\d{4})(\d{8})(\d\d)?(?:\.\d+)?(Z|[+-]\d{4})$/],
]);

/**
 * Reads a UTCTime or GeneralizedTime; fractions of a second are dropped.
 * Besides the form of RFC 5280 §4.1.2.5, accepts the forms in older
 * certificates.
 *
 * @throws DerError when it is not a time, or the date does not exist
 */
export function readTime(node: DerNode | undefined): Date {
  const match = node
    ? TIME_GRAMMARS.get(node.tag)?.exec(node.content.toString('latin1'))
    : undefined;
  if (!match) {
    throw new DerError('A time was expected');
  }
  const [, yearDigits, rest, seconds = '00', zone] = match;
  const [month, day, hour, minute] = rest.match(/\d\d/g) ?? [];
  const year = yearDigits.length === 4 ? yearDigits : inWindow(yearDigits);
  const text = `${year}-${month}-${day}T${hour}:${minute}:${seconds}.000Z`;
  const date = new Date(text);
  // Date converts February 30 to a day in March.
  if (Number.isNaN(date.getTime()) || date.toISOString() !== text) {
    throw new DerError('A date does not exist');
  }
  return new Date(date.getTime() - toMilliseconds(zone));
}

/** RFC 5280 §4.1.2.5.1: 50 to 99 are 1950 to 1999. */
function inWindow(year: string): string {
  return `${Number(year) >= 50 ? '19' : '20'}${year}`;
}

function toMilliseconds(zone: string): number {
  if (zone === 'Z') {
    return 0;
  }
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}
