import { DerError } from './DerError';

/** X.660 sets no bound; the longest in use are under 40 octets. */
const MAX_OCTETS = 64;

/**
 * Decodes the content of an OBJECT IDENTIFIER to dotted decimal, whatever the size of its arcs.
 *
 * Arithmetic of 32 or 53 bits would let a large arc wrap round to a well-known one (CVE-2025-66030).
 *
 * @throws DerError when an arc is cut off or padded (X.690 §8.19.2), or the whole is oversized
 */
export function decodeObjectIdentifier(content: Buffer): string {
  if (content.length === 0 || content.length > MAX_OCTETS) {
    throw new DerError('An OBJECT IDENTIFIER is empty or oversized');
  }
  const arcs = new Array<bigint>();
  let arc = 0n;
  let inArc = false;
  for (const octet of content) {
    if (!inArc && octet === 0x80) {
      throw new DerError('An arc of an OBJECT IDENTIFIER is padded');
    }
    arc = arc * 128n + BigInt(octet % 128);
    inArc = octet >= 128;
    if (!inArc) {
      arcs.push(arc);
      arc = 0n;
    }
  }
  if (inArc) {
    throw new DerError('An OBJECT IDENTIFIER is cut off');
  }
  const [head, ...rest] = arcs;
  // X.690 §8.19.4: the first two arcs share a number, and only under 2 may the second exceed 39.
  const first = head < 80n ? head / 40n : 2n;
  return [first, head - first * 40n, ...rest].join('.');
}
