import { createHash, createPublicKey, KeyObject } from 'node:crypto';
import { DerNode } from '../der/DerNode';
import {
  isNull,
  readBitStringOctets,
  readChildren,
  readObjectIdentifier,
} from '../der/readDer';
import { OID } from '../der/oids';
import { RequestRefusal } from '../refusals/RequestRefusal';
import { checkEcKey } from './checkEcKey';
import { checkEd25519Key } from './checkEd25519Key';
import { checkRsaKey } from './checkRsaKey';
import { SubjectPublicKey } from './SubjectPublicKey';

type KeyKind =
  | { algorithm: 'rsa'; bits: number }
  | { algorithm: 'ec'; bits: number; curve: 'P-256' | 'P-384' | 'P-521' }
  | { algorithm: 'ed25519'; bits: number };

/**
 * Reads a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7) and lets it through when it is safe to use.
 *
 * All is checked on the DER first, and only then is the key given to OpenSSL: a point at infinity
 * makes Node abort the whole process when it asks such a key for its details.
 *
 * @throws DerError when the structure is another
 * @throws RequestRefusal when the key is not accepted
 */
export function readPublicKey(node: DerNode): SubjectPublicKey {
  const [algorithm, key, ...rest] = readChildren(node);
  const [type, ...parameters] = readChildren(algorithm);
  const octets = readBitStringOctets(key);
  if (rest.length > 0 || parameters.length > 1) {
    throw new RequestRefusal('malformed_key');
  }
  const kind = checkKey(readObjectIdentifier(type), parameters[0], octets);
  const spki = Buffer.from(node.der);
  return Object.freeze({
    ...kind,
    spki,
    sha256: createHash('sha256').update(spki).digest('hex'),
    keyObject: toKeyObject(spki),
  });
}

function checkKey(
  type: string,
  parameters: DerNode | undefined,
  octets: Buffer,
): KeyKind {
  switch (type) {
    case OID.rsaEncryption:
      if (!isNull(parameters)) {
        throw new RequestRefusal('malformed_key');
      }
      return { algorithm: 'rsa', bits: checkRsaKey(octets) };
    case OID.ecPublicKey: {
      const { name, bits } = checkEcKey(parameters, octets);
      return { algorithm: 'ec', bits, curve: name };
    }
    case OID.ed25519:
      if (parameters) {
        throw new RequestRefusal('malformed_key');
      }
      checkEd25519Key(octets);
      return { algorithm: 'ed25519', bits: 256 };
    default:
      throw new RequestRefusal('unsupported_key');
  }
}

function toKeyObject(spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    // OpenSSL's message may quote the key, and says nothing that its owner could use.
    throw new RequestRefusal('malformed_key');
  }
}
