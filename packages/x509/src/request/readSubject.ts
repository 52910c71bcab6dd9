import { DerNode } from '../der/DerNode';
import { DistinguishedName, NameAttribute, readName } from '../names/readName';
import { OID } from '../der/oids';
import { RequestedSubject } from './CertificateRequest';
import { refuseMalformed, RequestRefusal } from '../refusals/RequestRefusal';

/**
 * Maximum number of attributes. Subjects of real clients have fewer than ten.
 */
const MAX_ATTRIBUTES = 50;

/** Maximum number of bytes. Subjects of real clients have fewer than 500. */
const MAX_BYTES = 8192;

/** Types defined as IA5String (RFC 4519 §2.4, RFC 2985 §5.2.1). */
const IA5_TYPES: readonly string[] = [OID.domainComponent, OID.emailAddress];

/**
 * Reads the subject of a request. Its strings must be of the types that RFC
 * 5280 §4.1.2.4 allows in new certificates: implementations decode the other
 * types differently.
 *
 * @throws RequestRefusal
 */
export function readSubject(node: DerNode): RequestedSubject {
  if (node.der.length > MAX_BYTES || node.children.length > MAX_ATTRIBUTES) {
    throw new RequestRefusal('subject_too_long');
  }
  const name = refuseMalformed('bad_subject', () => readName(node));
  const attributes = name.rdns.flat();
  if (attributes.length > MAX_ATTRIBUTES) {
    throw new RequestRefusal('subject_too_long');
  }
  for (const attribute of attributes) {
    checkAttribute(attribute);
  }
  return Object.freeze({
    ...name,
    commonNames: valuesOf(name, OID.commonName),
    emailAddresses: valuesOf(name, OID.emailAddress),
  });
}

function checkAttribute({ oid, value, stringType }: NameAttribute): void {
  const types = [
    'utf8',
    'printable',
    ...(IA5_TYPES.includes(oid) ? ['ia5'] : []),
  ];
  if (stringType === undefined || !types.includes(stringType)) {
    throw new RequestRefusal('subject_string_type');
  }
  // C programs end a string at NUL, and would therefore read a different name.
  if (!value || /\p{Cc}/u.test(value)) {
    throw new RequestRefusal('subject_characters');
  }
}

function valuesOf(name: DistinguishedName, oid: string): readonly string[] {
  const values = name.rdns
    .flat()
    .flatMap(attribute =>
      attribute.oid === oid ? (attribute.value ?? []) : [],
    );
  return Object.freeze(values);
}
