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

const NO_CHILDREN: readonly DerNode[] = Object.freeze([]);

/** A value that creates its buffers on use: most of them are never used. */
class ParsedNode implements DerNode {
  readonly tag: number;
  readonly children: readonly DerNode[];
  /** Offset of the end in the input. */
  readonly end: number;
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #contentStart: number;

  constructor(
    bytes: Buffer,
    start: number,
    header: Header,
    children: readonly DerNode[],
  ) {
    this.tag = header.tag;
    this.children = children;
    this.end = header.end;
    this.#bytes = bytes;
    this.#start = start;
    this.#contentStart = header.contentStart;
  }

  get der(): Buffer {
    return this.#bytes.subarray(this.#start, this.end);
  }

  get content(): Buffer {
    return this.#bytes.subarray(this.#contentStart, this.end);
  }
}

/** The header of a value; `end` is the offset of the end of its content. */
interface Header {
  readonly tag: number;
  readonly contentStart: number;
  readonly end: number;
}

class DerReader {
  readonly #bytes: Buffer;
  readonly #maxNodes: number;
  #values = 0;

  constructor(bytes: Buffer, maxNodes: number) {
    this.#bytes = bytes;
    this.#maxNodes = maxNodes;
  }

  /** Reads the value that starts at `start`, which must not end after `limit`. */
  read(options: {
    readonly start: number;
    readonly limit: number;
    /** Default: 0. */
    readonly depth?: number;
  }): ParsedNode {
    const { start, limit, depth = 0 } = options;
    this.#values += 1;
    if (depth > MAX_DEPTH || this.#values > this.#maxNodes) {
      throw new DerError('Nested too deeply, or too many values', 'complex');
    }
    const header = this.#readHeader(start, limit);
    const { tag, contentStart, end } = header;
    if (end > limit) {
      throw new DerError('A value is truncated');
    }
    if ((tag & CONSTRUCTED) === 0) {
      return new ParsedNode(this.#bytes, start, header, NO_CHILDREN);
    }
    const children = new Array<DerNode>();
    let offset = contentStart;
    while (offset < end) {
      const child = this.read({ start: offset, limit: end, depth: depth + 1 });
      children.push(child);
      offset = child.end;
    }
    return new ParsedNode(this.#bytes, start, header, children);
  }

  #readHeader(start: number, limit: number): Header {
    const bytes = this.#bytes;
    if (start + 2 > limit) {
      throw new DerError('A header is truncated');
    }
    const tag = bytes[start];
    const first = bytes[start + 1];
    if ((tag & 0x1f) === 0x1f) {
      throw new DerError('A tag number is above 30');
    }
    if (first < 0x80) {
      const contentStart = start + 2;
      return { tag, contentStart, end: contentStart + first };
    }
    const octets = first - 0x80;
    const contentStart = start + 2 + octets;
    if (octets === 0 || octets > MAX_LENGTH_OCTETS) {
      throw new DerError('A length is indefinite or too large');
    }
    if (contentStart > limit) {
      throw new DerError('A length is truncated');
    }
    const length = bytes.readUIntBE(start + 2, octets);
    if (length < 0x80 || length < 2 ** (8 * (octets - 1))) {
      throw new DerError('A length is not in its shortest form');
    }
    return { tag, contentStart, end: contentStart + length };
  }
}

/**
 * Parses a value and all values inside it in linear time, with bounds on their depth and number.
 *
 * Only the framing is read: definite lengths in their shortest form (X.690 §10.1) and tag numbers
 * below 31. The contents of primitive values are not checked.
 *
 * @param options - `maxNodes`: maximum number of values, for a trusted input.
 *   Default: 4096
 * @throws DerError
 */
export function parseDer(
  bytes: Buffer,
  options: { readonly maxNodes?: number } = {},
): DerNode {
  const { maxNodes = MAX_NODES } = options;
  const node = new DerReader(bytes, maxNodes).read({
    start: 0,
    limit: bytes.length,
  });
  if (node.end !== bytes.length) {
    throw new DerError('Bytes follow the value', 'trailing');
  }
  return node;
}
