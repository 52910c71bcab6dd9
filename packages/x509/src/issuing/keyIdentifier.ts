import { createHash } from 'node:crypto';
import { DerError } from '../der/DerError';
import { parseDer } from '../der/parseDer';
import { readBitStringOctets, readChildren } from '../der/readDer';

/**
 * Names a public key by the first 160 bits of the SHA-256 of its bits (RFC 7093 §2, method 1).
 *
 * @param spki - a SubjectPublicKeyInfo in DER
 * @throws TypeError when it is none
 */
export function keyIdentifier(spki: Buffer): Buffer {
  return createHash('sha256').update(keyBits(spki)).digest().subarray(0, 20);
}

function keyBits(spki: Buffer): Buffer {
  try {
    const [, key] = readChildren(parseDer(spki));
    return readBitStringOctets(key);
  } catch (error) {
    throw error instanceof DerError
      ? new TypeError('A public key is no SubjectPublicKeyInfo')
      : error;
  }
}
