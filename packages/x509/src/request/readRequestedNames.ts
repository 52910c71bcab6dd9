import { DerNode } from '../der/DerNode';
import { readBoolean, readChildren } from '../der/readDer';
import { readStrictDer } from '../der/readStrictDer';
import { Extension, readExtensions } from '../extensions/extensions';
import { GeneralName, readGeneralName } from '../names/readGeneralName';
import { OID } from '../der/oids';
import { refuseMalformed, RequestRefusal } from '../refusals/RequestRefusal';

const MAX_EXTENSIONS = 32;
const MAX_ALTERNATIVE_NAMES = 100;

/**
 * Extensions that may be critical: they are checked here, or determined by the
 * CA's profile.
 */
const KNOWN: readonly string[] = [
  OID.subjectKeyIdentifier,
  OID.keyUsage,
  OID.subjectAltName,
  OID.basicConstraints,
  OID.authorityKeyIdentifier,
  OID.extendedKeyUsage,
];

/**
 * Checks the extensions of a request and reads its SubjectAltName.
 *
 * @param node - Extensions (RFC 5280 §4.1); undefined when none are requested
 * @returns the alternative names; empty when there is no SubjectAltName
 * @throws RequestRefusal
 */
export function readRequestedNames(
  node: DerNode | undefined,
): readonly GeneralName[] {
  const extensions = node
    ? refuseMalformed('bad_extension', () => readExtensions(node))
    : [];
  if (extensions.length > MAX_EXTENSIONS) {
    throw new RequestRefusal('bad_extension');
  }
  const byOid = new Map<string, Extension>();
  for (const extension of extensions) {
    if (byOid.has(extension.oid)) {
      throw new RequestRefusal('duplicate_extension');
    }
    byOid.set(extension.oid, extension);
  }
  checkExtensions(byOid);
  const names = byOid.get(OID.subjectAltName);
  return Object.freeze(names ? readAlternativeNames(names.value) : []);
}

function checkExtensions(byOid: ReadonlyMap<string, Extension>): void {
  for (const { oid, critical } of byOid.values()) {
    if (critical && !KNOWN.includes(oid)) {
      throw new RequestRefusal('unknown_critical_extension');
    }
  }
  const constraints = byOid.get(OID.basicConstraints);
  if (constraints && requestsCa(constraints.value)) {
    throw new RequestRefusal('ca_requested');
  }
}

/** BasicConstraints (RFC 5280 §4.2.1.9). Only a CA has a path length. */
function requestsCa(value: Buffer): boolean {
  return refuseMalformed('bad_extension', () => {
    const [ca, ...rest] = readChildren(readStrictDer(value));
    return ca !== undefined && (readBoolean(ca) || rest.length > 0);
  });
}

function readAlternativeNames(value: Buffer): GeneralName[] {
  return refuseMalformed('bad_alternative_name', () => {
    const names = readChildren(readStrictDer(value));
    if (names.length === 0 || names.length > MAX_ALTERNATIVE_NAMES) {
      throw new RequestRefusal('bad_alternative_name');
    }
    return names.map(readGeneralName);
  });
}
