import { createHash } from 'node:crypto';
import { DerNode, TAG } from '../der/DerNode';
import { parseDer } from '../der/parseDer';
import {
  readBitStringOctets,
  readChildren,
  readInteger,
  readObjectIdentifier,
} from '../der/readDer';
import { CURVES } from '../keys/curves';
import { OID } from '../der/oids';
import { PublicKeyDescription } from './CertificateDescription';

/**
 * Names the public key of a certificate. It is not checked, and OpenSSL does not see it: of what is
 * stored in a directory, not every key is sound.
 *
 * @throws DerError
 */
export function describePublicKey(node: DerNode): PublicKeyDescription {
  const [algorithm, key] = readChildren(node);
  const [type, parameters] = readChildren(algorithm);
  const oid = readObjectIdentifier(type);
  const sha256 = createHash('sha256').update(node.der).digest('hex');
  const description = {
    algorithm: oid,
    bits: undefined,
    curve: undefined,
    sha256,
  };
  switch (oid) {
    case OID.rsaEncryption:
      return Object.freeze({
        ...description,
        algorithm: 'rsa',
        bits: modulusBits(key),
      });
    case OID.ecPublicKey:
      return Object.freeze({
        ...description,
        algorithm: 'ec',
        curve: curveName(parameters),
      });
    case OID.ed25519:
      return Object.freeze({ ...description, algorithm: 'ed25519' });
    default:
      return Object.freeze(description);
  }
}

function modulusBits(key: DerNode): number {
  const [modulus] = readChildren(parseDer(readBitStringOctets(key)));
  return readInteger(modulus).toString(2).length;
}

/** undefined when the parameters are spelled out. */
function curveName(parameters: DerNode | undefined): string | undefined {
  if (parameters?.tag !== TAG.oid) {
    return undefined;
  }
  const oid = readObjectIdentifier(parameters);
  return CURVES.get(oid)?.name ?? oid;
}
