import { DerError } from './DerError';

/** X.660 sets no bound; the longest in use are under 40 octets. */
const MAX_OCTETS = 64;

/** The highest bit of an octet says that its arc goes on; the other seven are digits. */
const MORE = 0x80;

/** As many octets of digits as a number without a fraction has room for. */
const SAFE_OCTETS = 7;

/**
 * Checks the content of an OBJECT IDENTIFIER.
 *
 * @throws DerError when an arc is cut off or padded (X.690 §8.19.2), or the whole is oversized
 */
export function checkObjectIdentifier(content: Buffer): void {
  const { length } = content;
  if (length === 0 || length > MAX_OCTETS || content[length - 1] >= MORE) {
    throw new DerError('An OBJECT IDENTIFIER is empty, oversized or cut off');
  }
  const isPadded = content.some(
    (octet, index) =>
      octet === MORE && (index === 0 || content[index - 1] < MORE),
  );
  if (isPadded) {
    throw new DerError('An arc of an OBJECT IDENTIFIER is padded');
  }
}

/**
 * Decodes the content of an OBJECT IDENTIFIER to dotted decimal, whatever the size of its arcs:
 * arithmetic of 32 or 53 bits would let a large arc wrap round to a well-known one (CVE-2025-66030).
 *
 * @throws DerError as `checkObjectIdentifier` does
 */
export function decodeObjectIdentifier(content: Buffer): string {
  checkObjectIdentifier(content);
  const [head, ...arcs] = splitArcs(content).map(decodeArc);
  // X.690 §8.19.4: the first two arcs share a number, and only under 2 may the second exceed 39.
  const first = Math.min(2, Math.floor(Number(head) / 40));
  const second = BigInt(head) - BigInt(40 * first);
  return [first, second, ...arcs].join('.');
}

function splitArcs(content: Buffer): Buffer[] {
  const arcs = new Array<Buffer>();
  let start = 0;
  for (const [index, octet] of content.entries()) {
    if (octet < MORE) {
      arcs.push(content.subarray(start, index + 1));
      start = index + 1;
    }
  }
  return arcs;
}

function decodeArc(octets: Buffer): number | bigint {
  return octets.length <= SAFE_OCTETS
    ? octets.reduce((arc, octet) => arc * 128 + (octet % MORE), 0)
    : octets.reduce((arc, octet) => arc * 128n + BigInt(octet % MORE), 0n);
}
