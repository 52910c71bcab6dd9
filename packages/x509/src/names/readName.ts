import { DerError, DerNode, TAG } from '../der/DerNode';
import { readChildren, readObjectIdentifier } from '../der/readDer';
import { StringType, decodeText, stringTypeOf } from '../der/readText';
import { OID } from '../der/oids';

/**
 * Reads a name and freezes it. Values of any type are taken; what a caller does not want to see, it
 * finds in `stringType` and in an undefined `value`.
 *
 * @throws DerError when the structure is not that of a name
 */
export function readName(node: DerNode | undefined): DistinguishedName {
  const rdns = readChildren(node).map(rdn => {
    const attributes = readChildren(rdn, TAG.set).map(readAttribute);
    if (attributes.length === 0) {
      throw new DerError('A relative name without attributes');
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
  try {
    return type && decodeText(node.content, type);
  } catch (error) {
    if (error instanceof DerError) {
      return undefined;
    }
    throw error;
  }
}

/**
 * One attribute of a name.
 *
 * @public
 */
export interface NameAttribute {
  /** Attribute type, dotted decimal. */
  readonly oid: string;
  /** The value, when it is a character string that could be decoded. */
  readonly value: string | undefined;
  /** The ASN.1 type that the value came in; undefined when it is no character string. */
  readonly stringType: StringType | undefined;
  /** DER of the value, lower-case hex. */
  readonly hex: string;
}

/**
 * An X.501 name (RFC 5280 §4.1.2.4).
 *
 * @public
 */
export interface DistinguishedName {
  /**
   * As RFC 4514 writes it, the last part of the encoding first: `CN=alice,O=EXAMPLE.TEST`. For
   * people; compare the attributes instead.
   */
  readonly text: string;
  /** The relative names in the order of the encoding, each with its attributes. */
  readonly rdns: readonly (readonly NameAttribute[])[];
}

/** Writes a name as RFC 4514 §2 has it: relative names from last to first. */
export function formatName(
  rdns: readonly (readonly NameAttribute[])[],
): string {
  return rdns
    .map(rdn => rdn.map(formatAttribute).join('+'))
    .reverse()
    .join(',');
}

function formatAttribute({ oid, value, hex }: NameAttribute): string {
  const name = shortNameOf(oid);
  return name && value !== undefined
    ? `${name}=${escapeValue(value)}`
    : `${name ?? oid}=#${hex}`;
}

/**
 * RFC 4514 §2.4. Control characters are escaped as well, which it leaves free, so that no value can
 * break a line or steer a terminal.
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

/**
 * Short names of attribute types in the text of a name (RFC 4514 §3), and beyond that list those
 * that FreeIPA writes, so that a subject reads the same whoever issued it.
 */
const SHORT_NAMES = {
  CN: OID.commonName,
  SN: '2.5.4.4',
  serialNumber: '2.5.4.5',
  C: '2.5.4.6',
  L: '2.5.4.7',
  ST: '2.5.4.8',
  STREET: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  title: '2.5.4.12',
  postalCode: '2.5.4.17',
  givenName: '2.5.4.42',
  generationQualifier: '2.5.4.44',
  dnQualifier: '2.5.4.46',
  pseudonym: '2.5.4.65',
  E: OID.emailAddress,
  DC: OID.domainComponent,
  UID: '0.9.2342.19200300.100.1.1',
} as const;

/**
 * The short name of an attribute type that a name can be written with.
 *
 * @public
 */
export type AttributeName = keyof typeof SHORT_NAMES;

const NAMES_BY_OID = new Map<string, string>(
  Object.entries(SHORT_NAMES).map(([name, oid]) => [oid, name]),
);

/** The short name of an attribute type, or undefined when it has none. */
export function shortNameOf(oid: string): string | undefined {
  return NAMES_BY_OID.get(oid);
}

/** The OID of an attribute type. */
export function attributeOid(name: AttributeName): string {
  return SHORT_NAMES[name];
}
