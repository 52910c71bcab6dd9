import { CONSTRUCTED, DerError, DerNode } from './DerNode';

/**
 * Maximum nesting depth. Requests from real clients have 8 levels; an
 * alternative name can add up to 7 more.
 */
const MAX_DEPTH = 32;

/** Maximum number of values. Requests from real clients have about 60. */
const MAX_NODES = 4096;

/** Maximum number of octets of a length: no input is larger than 16 MiB. */
const MAX_LENGTH_OCTETS = 3;

/**
 * Parses a value and all values inside it in linear time, with bounds on their depth and number.
 *
 * Only the framing is read: definite lengths in their shortest form (X.690 §10.1) and tag numbers
 * below 31. The contents of primitive values are not checked.
 *
 * @throws DerError
 */
export function parseDer(bytes: Buffer): DerNode {
  const node = readNode(bytes, 0, { values: 0 });
  if (node.der.length !== bytes.length) {
    throw new DerError('Bytes follow the value', 'trailing');
  }
  return node;
}

function readNode(
  bytes: Buffer,
  depth: number,
  counter: { values: number },
): DerNode {
  counter.values += 1;
  if (depth > MAX_DEPTH || counter.values > MAX_NODES) {
    throw new DerError('Nested too deeply, or too many values', 'complex');
  }
  const { tag, headerLength, contentLength } = readHeader(bytes);
  const end = headerLength + contentLength;
  if (end > bytes.length) {
    throw new DerError('A value is truncated');
  }
  const content = bytes.subarray(headerLength, end);
  const children = new Array<DerNode>();
  let offset = tag & CONSTRUCTED ? 0 : contentLength;
  while (offset < contentLength) {
    const child = readNode(content.subarray(offset), depth + 1, counter);
    children.push(child);
    offset += child.der.length;
  }
  return { tag, der: bytes.subarray(0, end), content, children };
}

function readHeader(bytes: Buffer) {
  if (bytes.length < 2) {
    throw new DerError('A header is truncated');
  }
  const [tag, first] = bytes;
  if ((tag & 0x1f) === 0x1f) {
    throw new DerError('A tag number is above 30');
  }
  if (first < 0x80) {
    return { tag, headerLength: 2, contentLength: first };
  }
  const octets = first - 0x80;
  const headerLength = 2 + octets;
  if (octets === 0 || octets > MAX_LENGTH_OCTETS) {
    throw new DerError('A length is indefinite or too large');
  }
  if (headerLength > bytes.length) {
    throw new DerError('A length is truncated');
  }
  const contentLength = bytes.readUIntBE(2, octets);
  if (contentLength < 0x80 || contentLength < 2 ** (8 * (octets - 1))) {
    throw new DerError('A length is not in its shortest form');
  }
  return { tag, headerLength, contentLength };
}
