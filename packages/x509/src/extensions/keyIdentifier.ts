import { createHash } from 'node:crypto';
import { DerNode } from '../der/DerNode';
import { readBitStringOctets, readChildren } from '../der/readDer';

/**
 * Names a public key by the first 160 bits of the SHA-256 of its bits (RFC 7093 §2, method 1).
 *
 * @param spki - a SubjectPublicKeyInfo
 * @throws DerError
 */
export function keyIdentifier(spki: DerNode): Buffer {
  const [, key] = readChildren(spki);
  return createHash('sha256')
    .update(readBitStringOctets(key))
    .digest()
    .subarray(0, 20);
}
