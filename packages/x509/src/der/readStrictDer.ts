import * as forge from 'node-forge';
import { DerError, DerNode, TAG } from './DerNode';
import { parseDer } from './parseDer';
import { checkObjectIdentifier } from './readDer';
import { decodeText } from './readText';

declare module 'node-forge' {
  namespace asn1 {
    /** The signature with options, which the published types omit. */
    function fromDer(
      bytes: string,
      options: {
        strict: boolean;
        parseAllBytes: boolean;
        decodeBitStrings: boolean;
      },
    ): Asn1;
  }
}

/**
 * Parses DER strictly, so that two parsers cannot interpret the same bytes
 * differently.
 *
 * There are three checks: this package's parser bounds size and depth; every
 * value of a universal type must be in its canonical form; and a second parser,
 * node-forge, must write the same bytes after reading them. node-forge is
 * recursive and accepts BER, so it relies on the bounds of the first check.
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
  // node-forge keeps octets as the characters U+0000 to U+00FF of a string.
  const text = bytes.toString('latin1');
  try {
    const value = forge.asn1.fromDer(text, {
      strict: true,
      parseAllBytes: true,
      decodeBitStrings: false,
    });
    return forge.asn1.toDer(value).getBytes() === text;
  } catch {
    return false;
  }
}

/** The class bits of the identifier octet. Zero is the universal class. */
const CLASS_BITS = 0xc0;

const anything = () => true;

/**
 * The universal types that X.509 uses, each with a check of its canonical form
 * in DER (X.690 §§8, 10, 11), which returns false or throws a DerError. Any
 * other identifier octet is rejected, including a primitive type with the
 * constructed bit and a constructed type without it.
 */
const CHECKS = new Map<number, (content: Buffer) => unknown>([
  [
    TAG.boolean,
    content => content.length === 1 && [0, 0xff].includes(content[0]),
  ],
  [TAG.integer, isShortestInteger],
  [TAG.bitString, isCanonicalBitString],
  [TAG.octetString, anything],
  [TAG.null, content => content.length === 0],
  [TAG.oid, checkObjectIdentifier],
  [TAG.enumerated, isShortestInteger],
  [TAG.utf8String, content => decodeText(content, 'utf8')],
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
  [TAG.universalString, content => decodeText(content, 'universal')],
  [TAG.bmpString, content => decodeText(content, 'bmp')],
  [TAG.sequence, anything],
  [TAG.set, anything],
]);

/**
 * Checks that every value of a universal type is in its canonical form. The type of a tagged value
 * depends on the grammar: its reader checks it.
 *
 * Three rules of DER are not enforced, because clients violate them and the
 * meaning remains unambiguous: values equal to their DEFAULT may be present
 * (`cA FALSE`, `saltLength 20`), the values of a SET OF may be in any order,
 * and single-byte strings may have characters outside their repertoire. The
 * functions that read names are stricter.
 *
 * @throws DerError
 */
function checkContent(node: DerNode): void {
  const isUniversal = (node.tag & CLASS_BITS) === 0;
  const check = CHECKS.get(node.tag);
  if (isUniversal && (!check || check(node.content) === false)) {
    throw new DerError('A value is not in canonical form');
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

/** Requires at most seven unused bits, all zero. */
function isCanonicalBitString(content: Buffer): boolean {
  const { length } = content;
  if (length < 2) {
    return length === 1 && content[0] === 0;
  }
  const [unused] = content;
  return unused < 8 && content[length - 1] % 2 ** unused === 0;
}
