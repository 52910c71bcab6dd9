import {
  DerValue,
  ia5String,
  objectIdentifier,
  printableString,
  sequence,
  setOf,
  utf8String,
} from '../der/writeDer';
import { AttributeName, attributeOid } from '../names/attributeTypes';

/**
 * One part of a name to be written.
 *
 * @public
 */
export interface NamePart {
  readonly type: AttributeName;
  readonly value: string;
}

/**
 * Writes a name (RFC 5280 §4.1.2.4): one attribute per relative name, UTF8String but for the types
 * that have a string type of their own.
 *
 * @param parts - in the order of the encoding, the most specific last: `O`, then `CN`
 * @throws RangeError when a value is empty, holds control characters or does not fit its type
 */
export function writeName(parts: readonly NamePart[]): DerValue {
  return sequence(
    ...parts.map(({ type, value }) =>
      setOf(
        sequence(objectIdentifier(attributeOid(type)), writeValue(type, value)),
      ),
    ),
  );
}

function writeValue(type: AttributeName, value: string): DerValue {
  if (value === '' || /[\p{Cc}\p{Cs}]/u.test(value)) {
    throw new RangeError(
      `The value of ${type} in a name is empty or has unprintable characters`,
    );
  }
  switch (type) {
    case 'C':
    case 'serialNumber':
    case 'dnQualifier':
      return printableString(
        matching(value, /^[A-Za-z0-9 '()+,\-./:=?]+$/, type),
      );
    case 'DC':
    case 'E':
      return ia5String(matching(value, /^[ -~]+$/, type));
    default:
      return utf8String(value);
  }
}

function matching(value: string, grammar: RegExp, type: AttributeName): string {
  if (!grammar.test(value)) {
    throw new RangeError(
      `The value of ${type} in a name has characters that its type forbids`,
    );
  }
  return value;
}
