import { DerError } from './DerNode';
import { CONSTRUCTED, DerNode } from './DerNode';

/** A request of a real client is 8 deep, an alternative name in it 7 more. */
const MAX_DEPTH = 32;

/** A request of a real client has about 60 values. */
const MAX_NODES = 4096;

/** The most bytes that a length may take: 16 MiB is far beyond every text that gets here. */
const MAX_LENGTH_OCTETS = 3;

class DerParser {
  #nodes = 0;

  readNode(bytes: Buffer, depth: number): DerNode {
    this.#nodes += 1;
    if (depth > MAX_DEPTH || this.#nodes > MAX_NODES) {
      throw new DerError('Too deep, or too many values', 'complex');
    }
    const { tag, headerLength, contentLength } = readHeader(bytes);
    const end = headerLength + contentLength;
    if (end > bytes.length) {
      throw new DerError('A value is cut off');
    }
    const content = bytes.subarray(headerLength, end);
    return {
      tag,
      der: bytes.subarray(0, end),
      content,
      children: tag & CONSTRUCTED ? this.#readNodes(content, depth + 1) : [],
    };
  }

  #readNodes(content: Buffer, depth: number): DerNode[] {
    const nodes = new Array<DerNode>();
    let rest = content;
    while (rest.length > 0) {
      const node = this.readNode(rest, depth);
      nodes.push(node);
      rest = rest.subarray(node.der.length);
    }
    return nodes;
  }
}

function readHeader(bytes: Buffer) {
  if (bytes.length < 2) {
    throw new DerError('A header is cut off');
  }
  const [tag, first] = bytes;
  if ((tag & 0x1f) === 0x1f) {
    throw new DerError('A tag number above 30');
  }
  if (first < 0x80) {
    return { tag, headerLength: 2, contentLength: first };
  }
  const octets = first - 0x80;
  const headerLength = 2 + octets;
  if (octets === 0 || octets > MAX_LENGTH_OCTETS) {
    throw new DerError('An indefinite or oversized length');
  }
  if (headerLength > bytes.length) {
    throw new DerError('A length is cut off');
  }
  const contentLength = bytes.readUIntBE(2, octets);
  if (contentLength < 0x80 || contentLength < 2 ** (8 * (octets - 1))) {
    throw new DerError('A length is not in its shortest form');
  }
  return { tag, headerLength, contentLength };
}

/**
 * Splits one value and all it is made of, in time linear in the bytes and with bounds on depth and
 * number, so that no input can hurt what looks at the result.
 *
 * Only the framing is read, and only DER's: definite lengths in their shortest form (X.690 §10.1)
 * and tag numbers below 31. What the values hold is not looked at.
 *
 * @throws DerError
 */
export function parseDer(bytes: Buffer): DerNode {
  const parser = new DerParser();
  const node = parser.readNode(bytes, 0);
  if (node.der.length !== bytes.length) {
    throw new DerError('Bytes are left after the value', 'trailing');
  }
  return node;
}
