import { StringType } from '../der/readText';

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
