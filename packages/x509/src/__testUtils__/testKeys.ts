import { generateKeyPairSync, KeyObject } from 'node:crypto';

/** A key pair. */
export interface TestKey {
  privateKey: KeyObject;
  /** SubjectPublicKeyInfo. */
  spki: Buffer;
}

const keys = new Map<string, TestKey>();

/** Returns a cached key of a type. */
export function testKey(
  kind: 'rsa' | 'P-256' | 'P-384' | 'P-521' | 'ed25519' | 'ed448',
): TestKey {
  const key = keys.get(kind) ?? toTestKey(generate(kind));
  keys.set(kind, key);
  return key;
}

/** Converts a Node.js key pair. */
export function toTestKey(pair: {
  privateKey: KeyObject;
  publicKey: KeyObject;
}): TestKey {
  return {
    privateKey: pair.privateKey,
    spki: pair.publicKey.export({ type: 'spki', format: 'der' }),
  };
}

function generate(kind: Parameters<typeof testKey>[0]) {
  switch (kind) {
    case 'rsa':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
    case 'ed25519':
      return generateKeyPairSync('ed25519');
    case 'ed448':
      return generateKeyPairSync('ed448');
    default:
      return generateKeyPairSync('ec', { namedCurve: kind });
  }
}
