import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** PKCS #8 of an Ed25519 key up to the key itself (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** An Ed25519 private key that is the same for the same 32 octets. */
export function privateKeyOfSeed(seed: Buffer): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, seed]),
    format: 'der',
    type: 'pkcs8',
  });
}

/** The public key, 32 octets, of that private key. */
export function publicKeyOfSeed(seed: Buffer): Buffer {
  const info = createPublicKey(privateKeyOfSeed(seed)).export({
    format: 'der',
    type: 'spki',
  });
  return info.subarray(-32);
}
