import { isUtf8 } from 'node:buffer';
import { DerError, DerNode, TAG } from './DerNode';

/**
 * Character string types of X.509 names (X.680 §41).
 *
 * @public
 */
export type StringType =
  'utf8' | 'printable' | 'ia5' | 'general' | 'teletex' | 'bmp' | 'universal';

const TYPES = new Map<number, StringType>([
  [TAG.utf8String, 'utf8'],
  [TAG.printableString, 'printable'],
  [TAG.ia5String, 'ia5'],
  [TAG.generalString, 'general'],
  [TAG.teletexString, 'teletex'],
  [TAG.bmpString, 'bmp'],
  [TAG.universalString, 'universal'],
]);

/**
 * Returns the string type of a value; undefined when it is not a character
 * string.
 */
export function stringTypeOf(node: DerNode): StringType | undefined {
  return TYPES.get(node.tag);
}

/**
 * Decodes a character string. TeletexString is read as Latin-1, as other
 * implementations do. Text of the types teletex, bmp and universal must be used
 * for display only, not for comparison.
 *
 * @throws DerError when the octets are outside the repertoire of the type
 */
export function decodeText(content: Buffer, type: StringType): string {
  switch (type) {
    case 'utf8':
      return decodeUtf8(content);
    case 'printable':
      return decodeAscii(content, /^[A-Za-z0-9 '()+,\-./:=?]*$/);
    case 'ia5':
    case 'general':
      return decodeAscii(content, /^[\0-\x7f]*$/);
    case 'teletex':
      return content.toString('latin1');
    case 'bmp':
      return decodeUtf16(content);
    default:
      return decodeUtf32(content);
  }
}

function decodeUtf8(content: Buffer): string {
  if (!isUtf8(content)) {
    throw new DerError('A UTF8String is not UTF-8');
  }
  return content.toString('utf8');
}

function decodeAscii(content: Buffer, repertoire: RegExp): string {
  const text = content.toString('latin1');
  if (!repertoire.test(text)) {
    throw new DerError(
      'A character is outside the repertoire of its string type',
    );
  }
  return text;
}

function decodeUtf16(content: Buffer): string {
  if (content.length % 2 !== 0) {
    throw new DerError('A BMPString ends within a character');
  }
  return wellFormed(Buffer.from(content).swap16().toString('utf16le'));
}

function decodeUtf32(content: Buffer): string {
  if (content.length % 4 !== 0) {
    throw new DerError('A UniversalString ends within a character');
  }
  let text = '';
  for (let at = 0; at < content.length; at += 4) {
    const codePoint = content.readUInt32BE(at);
    if (codePoint > 0x10ffff) {
      throw new DerError(
        'A UniversalString has a code point that is not Unicode',
      );
    }
    text += String.fromCodePoint(codePoint);
  }
  return wellFormed(text);
}

function wellFormed(text: string): string {
  if (/\p{Cs}/u.test(text)) {
    throw new DerError('A string has half of a surrogate pair');
  }
  return text;
}
