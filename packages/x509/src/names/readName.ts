import { DerError } from '../der/DerError';
import { DerNode, TAG } from '../der/DerNode';
import { readChildren, readObjectIdentifier } from '../der/readDer';
import { decodeText, stringTypeOf } from '../der/readText';
import { DistinguishedName, NameAttribute } from './DistinguishedName';
import { formatName } from './formatName';

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
