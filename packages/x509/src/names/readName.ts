import { catchDerError, DerError, DerNode, TAG } from '../der/DerNode';
import { readChildren, readObjectIdentifier } from '../der/readDer';
import { StringType, decodeText, stringTypeOf } from '../der/readText';
import { OID } from '../der/oids';

/**
 * One attribute of a name.
 *
 * @public
 */
export interface NameAttribute {
  /** Attribute type, dotted decimal. */
  readonly oid: string;
  /** The value; undefined when it is not a character string or cannot be decoded. */
  readonly value: string | undefined;
  /** ASN.1 type of the value; undefined when it is not a character string. */
  readonly stringType: StringType | undefined;
  /** DER of the value, lowercase hex. */
  readonly hex: string;
}

/**
 * An X.501 name (RFC 5280 §4.1.2.4).
 *
 * @public
 */
export interface DistinguishedName {
  /**
   * Text of RFC 4514, the last part of the encoding first: `CN=alice,O=EXAMPLE.TEST`. For display;
   * compare the attributes instead.
   */
  readonly text: string;
  /** The relative names, in the order of the encoding, each with its attributes. */
  readonly rdns: readonly (readonly NameAttribute[])[];
}

/**
 * Short names of attribute types in the text of a name: those of RFC 4514 §3,
 * and those that FreeIPA writes, so that the text of a subject does not depend
 * on the CA that issued it.
 */
const SHORT_NAMES = new Map<string, string>([
  [OID.commonName, 'CN'],
  ['2.5.4.4', 'SN'],
  ['2.5.4.5', 'serialNumber'],
  ['2.5.4.6', 'C'],
  ['2.5.4.7', 'L'],
  ['2.5.4.8', 'ST'],
  ['2.5.4.9', 'STREET'],
  [OID.organization, 'O'],
  ['2.5.4.11', 'OU'],
  ['2.5.4.12', 'title'],
  ['2.5.4.17', 'postalCode'],
  ['2.5.4.42', 'givenName'],
  ['2.5.4.44', 'generationQualifier'],
  ['2.5.4.46', 'dnQualifier'],
  ['2.5.4.65', 'pseudonym'],
  [OID.emailAddress, 'E'],
  [OID.domainComponent, 'DC'],
  ['0.9.2342.19200300.100.1.1', 'UID'],
]);

/**
 * Reads a name. Values of any type are accepted; `stringType` and an undefined `value` report those
 * that are not text. The result is frozen.
 *
 * @throws DerError when the structure is not that of a name
 */
export function readName(node: DerNode | undefined): DistinguishedName {
  const rdns = readChildren(node).map(rdn => {
    const attributes = readChildren(rdn, TAG.set).map(readAttribute);
    if (attributes.length === 0) {
      throw new DerError('A relative name has no attributes');
    }
    return Object.freeze(attributes);
  });
  return Object.freeze({ text: formatName(rdns), rdns: Object.freeze(rdns) });
}

function readAttribute(node: DerNode): NameAttribute {
  const [type, value, ...rest] = readChildren(node);
  if (!value || rest.length > 0) {
    throw new DerError('An attribute of a name has a type and a value');
  }
  return Object.freeze({
    oid: readObjectIdentifier(type),
    value: readValue(value),
    stringType: stringTypeOf(value),
    hex: value.der.toString('hex'),
  });
}

function readValue(node: DerNode): string | undefined {
  const type = stringTypeOf(node);
  return (
    type &&
    catchDerError(
      () => decodeText(node.content, type),
      () => undefined,
    )
  );
}

/** Formats a name (RFC 4514 §2): relative names from last to first. */
function formatName(rdns: DistinguishedName['rdns']): string {
  return rdns
    .map(rdn => rdn.map(formatAttribute).join('+'))
    .reverse()
    .join(',');
}

function formatAttribute({ oid, value, hex }: NameAttribute): string {
  const name = SHORT_NAMES.get(oid);
  return name && value !== undefined
    ? `${name}=${escapeValue(value)}`
    : `${name ?? oid}=#${hex}`;
}

/**
 * Escapes a value (RFC 4514 §2.4), including control characters, for which
 * escaping is optional, so that a value cannot break a line or control a
 * terminal.
 */
function escapeValue(value: string): string {
  return value
    .replace(/^[ #]|["+,;<>\\]| $/g, '\\$&')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escapeOctets);
}

function escapeOctets(character: string): string {
  return [...Buffer.from(character)]
    .map(octet => `\\${octet.toString(16).padStart(2, '0')}`)
    .join('');
}
