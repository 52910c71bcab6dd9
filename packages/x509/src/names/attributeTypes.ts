import { OID } from '../der/oids';

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
