import { constructedContextTag, DerNode } from '../der/DerNode';
import {
  isNull,
  readChildren,
  readInteger,
  readObjectIdentifier,
  readOnlyChild,
} from '../der/readDer';
import { OID } from '../der/oids';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { HashName, HASHES } from './hashAlgorithms';

/** The default of RFC 4055 §3.1, and the shortest that is in use. */
const MIN_SALT_BYTES = 20n;

/** As much as the largest key has room for. */
const MAX_SALT_BYTES = 1024n;

/** What a signature with RSASSA-PSS is verified with. */
export interface PssParameters {
  readonly hash: HashName;
  readonly saltLength: number;
}

/**
 * Reads RSASSA-PSS-params (RFC 4055 §3.1). Both hashes must be spelled out, since their default is
 * SHA-1, and must be the same, as OpenSSL and everybody else has it.
 *
 * @throws DerError when the structure is another
 * @throws RequestRefusal when a parameter is not accepted
 */
export function readPssParameters(node: DerNode | undefined): PssParameters {
  const fields = [...readChildren(node)];
  const take = (number: number) =>
    fields[0]?.tag === constructedContextTag(number)
      ? readOnlyChild(fields.shift(), constructedContextTag(number))
      : undefined;

  const hashAlgorithm = take(0);
  const maskAlgorithm = take(1);
  const saltField = take(2);
  const trailerField = take(3);
  if (!hashAlgorithm || !maskAlgorithm) {
    throw new RequestRefusal('weak_signature_algorithm');
  }
  const hash = readHash(hashAlgorithm);
  const saltLength = saltField ? readInteger(saltField) : MIN_SALT_BYTES;
  const trailer = trailerField ? readInteger(trailerField) : 1n;
  if (
    fields.length > 0 ||
    trailer !== 1n ||
    saltLength < MIN_SALT_BYTES ||
    saltLength > MAX_SALT_BYTES ||
    readMaskHash(maskAlgorithm) !== hash
  ) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return { hash, saltLength: Number(saltLength) };
}

function readMaskHash(node: DerNode): HashName {
  const [type, hash, ...rest] = readChildren(node);
  if (readObjectIdentifier(type) !== OID.mgf1 || rest.length > 0) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return readHash(hash);
}

/** RFC 4055 §2.1: the parameters are NULL, or absent. */
function readHash(node: DerNode): HashName {
  const [type, parameters, ...rest] = readChildren(node);
  const hash = HASHES.get(readObjectIdentifier(type));
  if (!hash || rest.length > 0 || (parameters && !isNull(parameters))) {
    throw new RequestRefusal('unsupported_signature_algorithm');
  }
  return hash;
}
