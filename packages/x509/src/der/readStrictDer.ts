import { DerError, DerNode, TAG } from './DerNode';
import { parseDer } from './parseDer';
import { parseWithForge } from './parseWithForge';
import { encode } from './writeDer';
import { checkObjectIdentifier } from './readDer';
import { decodeText } from './readText';

/**
 * Parses what must be DER to the letter, so that no two readers can understand it differently.
 *
 * Three gates: our own parser bounds size and depth, every value of a universal type must be in its
 * canonical form, and a second parser, node-forge, must write the very same bytes after reading
 * them. The second comes last because its recursion and its tolerance need the bounds of the first.
 *
 * @throws DerError
 */
export function readStrictDer(bytes: Buffer): DerNode {
  const node = parseDer(bytes);
  checkContent(node);
  if (!survivesForge(bytes)) {
    throw new DerError('Two parsers disagree about the bytes');
  }
  return node;
}

function survivesForge(bytes: Buffer): boolean {
  try {
    return encode(parseWithForge(bytes)).equals(bytes);
  } catch {
    return false;
  }
}

/** The class bits of the identifier octet. Zero is the universal class. */
const CLASS_BITS = 0xc0;

const anything = () => true;

/**
 * The universal types that a request may be made of, each with the form that DER leaves it
 * (X.690 §§8, 10, 11). Not here: what no specification of X.509 uses, primitive types with the bit of
 * constructed ones, and the other way round.
 */
const CHECKS = new Map<number, (content: Buffer) => boolean>([
  [
    TAG.boolean,
    content => content.length === 1 && [0, 0xff].includes(content[0]),
  ],
  [TAG.integer, isShortestInteger],
  [TAG.bitString, isCanonicalBitString],
  [TAG.octetString, anything],
  [TAG.null, content => content.length === 0],
  [TAG.oid, content => accepts(() => checkObjectIdentifier(content))],
  [TAG.enumerated, isShortestInteger],
  [TAG.utf8String, content => accepts(() => decodeText(content, 'utf8'))],
  [TAG.numericString, anything],
  [TAG.printableString, anything],
  [TAG.teletexString, anything],
  [TAG.ia5String, anything],
  [TAG.utcTime, content => /^\d{12}Z$/.test(content.toString('latin1'))],
  [
    TAG.generalizedTime,
    content => /^\d{14}(?:\.\d*[1-9])?Z$/.test(content.toString('latin1')),
  ],
  [TAG.visibleString, anything],
  [TAG.generalString, anything],
  [
    TAG.universalString,
    content => accepts(() => decodeText(content, 'universal')),
  ],
  [TAG.bmpString, content => accepts(() => decodeText(content, 'bmp'))],
  [TAG.sequence, anything],
  [TAG.set, anything],
]);

/**
 * Checks that every value of a universal type is in its canonical form. Tagged values have no type
 * without their grammar: their readers check them.
 *
 * Three rules are left out, since clients break them and no reader is misled: values equal to their
 * DEFAULT may be there (`cA FALSE`, `saltLength 20`), the values of a SET OF come in any order, and
 * strings of one octet a character have characters that their type lacks. The readers of names are
 * stricter about those.
 *
 * @throws DerError
 */
export function checkContent(node: DerNode): void {
  const isUniversal = (node.tag & CLASS_BITS) === 0;
  if (isUniversal && !CHECKS.get(node.tag)?.(node.content)) {
    throw new DerError('A value is not in the form that DER has for it');
  }
  for (const child of node.children) {
    checkContent(child);
  }
}

function isShortestInteger(content: Buffer): boolean {
  if (content.length < 2) {
    return content.length === 1;
  }
  const [first, second] = content;
  const isSpare =
    (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80);
  return !isSpare;
}

/** The unused bits are less than an octet, and zero. */
function isCanonicalBitString(content: Buffer): boolean {
  const { length } = content;
  if (length < 2) {
    return length === 1 && content[0] === 0;
  }
  const [unused] = content;
  return unused < 8 && content[length - 1] % 2 ** unused === 0;
}

function accepts(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof DerError) {
      return false;
    }
    throw error;
  }
}
