import { DerError } from './DerError';
import { DerNode, TAG } from './DerNode';
import { decodeObjectIdentifier } from './objectIdentifier';

/** @throws DerError unless the value is of this type */
export function expectTag(node: DerNode | undefined, tag: number): DerNode {
  if (node?.tag !== tag) {
    throw new DerError('A value of another type was expected');
  }
  return node;
}

/** The values of a SEQUENCE, or of another constructed type. */
export function readChildren(
  node: DerNode | undefined,
  tag: number = TAG.sequence,
): readonly DerNode[] {
  return expectTag(node, tag).children;
}

/** The one value that an explicit tag, or a list of exactly one, holds. */
export function readOnlyChild(node: DerNode | undefined, tag: number): DerNode {
  const children = readChildren(node, tag);
  if (children.length !== 1) {
    throw new DerError('Exactly one value was expected');
  }
  return children[0];
}

/** Dotted decimal. */
export function readObjectIdentifier(node: DerNode | undefined): string {
  return decodeObjectIdentifier(expectTag(node, TAG.oid).content);
}

export function readInteger(node: DerNode | undefined): bigint {
  return decodeInteger(expectTag(node, TAG.integer).content);
}

/** Two's complement, most significant octet first (X.690 §8.3.3). */
export function decodeInteger(content: Buffer): bigint {
  if (content.length === 0) {
    throw new DerError('An INTEGER is empty');
  }
  return BigInt.asIntN(8 * content.length, toBigInt(content));
}

/** The octets as one number without a sign. */
export function toBigInt(octets: Buffer): bigint {
  return octets.length === 0 ? 0n : BigInt(`0x${octets.toString('hex')}`);
}

export function readBoolean(node: DerNode | undefined): boolean {
  const { content } = expectTag(node, TAG.boolean);
  if (content.length !== 1) {
    throw new DerError('A BOOLEAN of another size');
  }
  return content[0] !== 0;
}

export function readOctetString(node: DerNode | undefined): Buffer {
  return expectTag(node, TAG.octetString).content;
}

/** The octets of a BIT STRING that is used as a string of octets. */
export function readBitStringOctets(node: DerNode | undefined): Buffer {
  const { content } = expectTag(node, TAG.bitString);
  if (content[0] !== 0) {
    throw new DerError('A BIT STRING does not end with an octet');
  }
  return content.subarray(1);
}

/** Tells whether a value is NULL, as the parameters of many algorithms are. */
export function isNull(node: DerNode | undefined): boolean {
  return node?.tag === TAG.null && node.content.length === 0;
}
