import {
  DerValue,
  generalString,
  ia5String,
  integer,
  objectIdentifier,
  printableString,
  sequence,
  setOf,
  tagged,
  taggedOctets,
  utf8String,
} from '../der/writeDer';
import { OID } from '../der/oids';
import { KerberosPrincipal } from '../names/readGeneralName';
import { AttributeName, attributeOid } from '../names/readName';

/**
 * An alternative name to be written.
 *
 * @public
 */
export type WritableGeneralName =
  | {
      readonly kind: 'rfc822Name' | 'dnsName' | 'uri' | 'userPrincipalName';
      readonly value: string;
    }
  | {
      readonly kind: 'krb5PrincipalName';
      readonly principal: KerberosPrincipal;
    };

/**
 * Writes one alternative name (RFC 5280 §4.2.1.6).
 *
 * @throws RangeError when a value is empty or does not fit its type
 */
export function writeGeneralName(name: WritableGeneralName): DerValue {
  switch (name.kind) {
    case 'rfc822Name':
      return taggedOctets(1, toAscii(name.value));
    case 'dnsName':
      return taggedOctets(2, toAscii(name.value));
    case 'uri':
      return taggedOctets(6, toAscii(name.value));
    case 'userPrincipalName':
      return otherName(
        OID.userPrincipalName,
        utf8String(printable(name.value, /^\P{Cc}+$/u)),
      );
    default:
      return otherName(OID.krb5PrincipalName, writePrincipal(name.principal));
  }
}

function otherName(oid: string, value: DerValue): DerValue {
  return tagged(0, objectIdentifier(oid), tagged(0, value));
}

/** KRB5PrincipalName (RFC 4556 §3.2.2). */
function writePrincipal({
  realm,
  nameType,
  components,
}: KerberosPrincipal): DerValue {
  const strings = components.map(component =>
    generalString(printable(component, /^[ -~]+$/)),
  );
  return sequence(
    tagged(0, generalString(printable(realm, /^[ -~]+$/))),
    tagged(
      1,
      sequence(
        tagged(0, integer(BigInt(nameType))),
        tagged(1, sequence(...strings)),
      ),
    ),
  );
}

function toAscii(text: string): Buffer {
  return Buffer.from(printable(text, /^[!-~]+$/), 'latin1');
}

function printable(text: string, grammar: RegExp): string {
  if (!grammar.test(text)) {
    throw new RangeError(
      'An alternative name is empty or has characters that its type forbids',
    );
  }
  return text;
}

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
