import { DerError } from '../der/DerError';
import { DerNode, TAG } from '../der/DerNode';
import {
  readBoolean,
  readChildren,
  readObjectIdentifier,
  readOctetString,
} from '../der/readDer';

/** One extension, its value still unread. */
export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  /** The DER inside of the OCTET STRING. */
  readonly value: Buffer;
}

/**
 * Reads Extensions (RFC 5280 §4.1), in the order of the encoding.
 *
 * @throws DerError
 */
export function readExtensions(node: DerNode): Extension[] {
  return readChildren(node).map(readExtension);
}

function readExtension(node: DerNode): Extension {
  const [type, ...fields] = readChildren(node);
  const critical =
    fields[0]?.tag === TAG.boolean ? readBoolean(fields.shift()) : false;
  const [value, ...rest] = fields;
  if (rest.length > 0) {
    throw new DerError('An extension with more than its parts');
  }
  return {
    oid: readObjectIdentifier(type),
    critical,
    value: readOctetString(value),
  };
}
