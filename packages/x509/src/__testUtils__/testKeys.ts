import { generateKeyPairSync, KeyObject } from 'node:crypto';

/** A key pair as requests need it. */
export interface TestKey {
  privateKey: KeyObject;
  /** SubjectPublicKeyInfo. */
  spki: Buffer;
}

const made = new Map<string, TestKey>();

/** A key of a kind, made when it is first asked for. */
export function testKey(
  kind: 'rsa' | 'P-256' | 'P-384' | 'P-521' | 'ed25519' | 'ed448',
): TestKey {
  const key = made.get(kind) ?? toTestKey(generate(kind));
  made.set(kind, key);
  return key;
}

/** The parts of a pair that Node generated. */
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
