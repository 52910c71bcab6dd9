import { DerError } from './DerError';
import { CONSTRUCTED, DerNode, TAG } from './DerNode';
import { decodeObjectIdentifier } from './objectIdentifier';

/** The class bits of the identifier octet. Zero is the universal class. */
const CLASS_BITS = 0xc0;

/**
 * Checks that every value of a universal type is in the one form that DER leaves it
 * (X.690 §§8, 10, 11). Tagged values have no type without their grammar: their readers check them.
 *
 * Two rules are left out, since clients break them and no reader is misled: values equal to their
 * DEFAULT may be there (`cA FALSE`, `saltLength 20`), and the values of a SET OF come in any order.
 *
 * @throws DerError
 */
export function checkContent(node: DerNode): void {
  if ((node.tag & CLASS_BITS) === 0) {
    checkUniversal(node);
  }
  for (const child of node.children) {
    checkContent(child);
  }
}

function checkUniversal({ tag, content }: DerNode): void {
  switch (tag) {
    case TAG.boolean:
      demand(
        content.length === 1 && (content[0] === 0 || content[0] === 0xff),
        'A BOOLEAN is neither 00 nor FF',
      );
      break;
    case TAG.integer:
    case 0x0a: // ENUMERATED
      demand(isShortestInteger(content), 'An INTEGER has spare octets');
      break;
    case TAG.bitString:
      demand(isCanonicalBitString(content), 'A BIT STRING has stray bits');
      break;
    case TAG.null:
      demand(content.length === 0, 'A NULL has content');
      break;
    case TAG.oid:
      decodeObjectIdentifier(content);
      break;
    case TAG.sequence:
    case TAG.set:
      break;
    default:
      // The rest are strings and times, which DER has in one piece, and the end of BER's contents.
      demand(
        tag !== 0 && (tag & CONSTRUCTED) === 0 && !isHollow(tag),
        'A primitive type is constructed, or the other way round',
      );
  }
}

function isShortestInteger(content: Buffer): boolean {
  if (content.length < 2) {
    return content.length === 1;
  }
  const [first, second] = content;
  const spare =
    (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80);
  return !spare;
}

function isCanonicalBitString(content: Buffer): boolean {
  const [unused] = content;
  const last = content[content.length - 1];
  return (
    content.length > 0 &&
    unused <= (content.length === 1 ? 0 : 7) &&
    (content.length === 1 || (last & ((1 << unused) - 1)) === 0)
  );
}

/** SEQUENCE, SET, EXTERNAL and EMBEDDED PDV without the bit that says they are constructed. */
function isHollow(tag: number): boolean {
  return [0x08, 0x0b, 0x10, 0x11].includes(tag);
}

function demand(condition: boolean, rule: string): void {
  if (!condition) {
    throw new DerError(rule);
  }
}
