import { constructedContextTag, DerNode, TAG } from '../der/DerNode';
import {
  expectTag,
  readChildren,
  readObjectIdentifier,
  readOnlyChild,
} from '../der/readDer';
import { OID } from '../der/oids';
import { refuseMalformed, RequestRefusal } from '../refusals/RequestRefusal';

/** Windows, the most talkative client, sends four. */
const MAX_ATTRIBUTES = 32;

/**
 * Finds the requested extensions (RFC 2985 §5.4.2) among the attributes of a request. All other
 * attributes are ignored: challenge passwords, what Windows says about itself, and Microsoft's own
 * list of extensions, which no specification makes a request for any.
 *
 * @param node - undefined when the request leaves attributes out, as some old clients do
 * @returns the Extensions, or undefined when none are asked for
 * @throws RequestRefusal
 */
export function readAttributes(node: DerNode | undefined): DerNode | undefined {
  if (!node) {
    return undefined;
  }
  return refuseMalformed('bad_attributes', () => {
    const attributes = readChildren(node, constructedContextTag(0));
    if (attributes.length > MAX_ATTRIBUTES) {
      throw new RequestRefusal('bad_attributes');
    }
    return findExtensions(attributes);
  });
}

function findExtensions(attributes: readonly DerNode[]): DerNode | undefined {
  const valuesByType = new Map<string, DerNode>();
  for (const attribute of attributes) {
    const [type, values, ...rest] = readChildren(attribute);
    const oid = readObjectIdentifier(type);
    if (rest.length > 0 || readChildren(values, TAG.set).length === 0) {
      throw new RequestRefusal('bad_attributes');
    }
    if (valuesByType.has(oid)) {
      throw new RequestRefusal('duplicate_attribute');
    }
    valuesByType.set(oid, values);
  }
  const values = valuesByType.get(OID.extensionRequest);
  return values && expectTag(readOnlyChild(values, TAG.set), TAG.sequence);
}
