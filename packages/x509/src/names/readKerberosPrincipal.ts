import { DerError } from '../der/DerError';
import { constructedContextTag, DerNode, TAG } from '../der/DerNode';
import {
  expectTag,
  readChildren,
  readInteger,
  readOnlyChild,
} from '../der/readDer';
import { KerberosPrincipal } from './GeneralName';

/**
 * Reads a KRB5PrincipalName (RFC 4556 §3.2.2), and freezes it:
 *
 *     SEQUENCE { realm [0] Realm, principalName [1] SEQUENCE {
 *       name-type [0] Int32, name-string [1] SEQUENCE OF KerberosString } }
 *
 * @throws DerError unless every part is there and printable ASCII: RFC 4120 §5.2.1 leaves what is
 *   beyond to each site's taste
 */
export function readKerberosPrincipal(node: DerNode): KerberosPrincipal {
  const [realm, principalName] = readTagged(node);
  const [nameType, nameString] = readTagged(principalName);
  const components = readChildren(nameString).map(readKerberosString);
  if (components.length === 0) {
    throw new DerError('A Kerberos principal without a name');
  }
  return Object.freeze({
    realm: readKerberosString(realm),
    nameType: readInt32(nameType),
    components: Object.freeze(components),
  });
}

/** The fields of a SEQUENCE { [0], [1] }. */
function readTagged(node: DerNode): [DerNode, DerNode] {
  const [first, second, ...rest] = readChildren(node);
  if (rest.length > 0) {
    throw new DerError('A Kerberos principal with more than its parts');
  }
  return [
    readOnlyChild(first, constructedContextTag(0)),
    readOnlyChild(second, constructedContextTag(1)),
  ];
}

function readKerberosString(node: DerNode): string {
  const text = expectTag(node, TAG.generalString).content.toString('latin1');
  if (!/^[ -~]+$/.test(text)) {
    throw new DerError(
      'A part of a Kerberos principal is empty or not printable ASCII',
    );
  }
  return text;
}

function readInt32(node: DerNode): number {
  const value = readInteger(node);
  if (value !== BigInt.asIntN(32, value)) {
    throw new DerError('A name type of more than 32 bits');
  }
  return Number(value);
}
