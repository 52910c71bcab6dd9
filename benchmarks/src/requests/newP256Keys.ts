import type { KeyPair } from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { generateKeyPairSync } from 'node:crypto';

/** P-256 keys, no two alike and without an end. */
export function* newP256Keys(): Generator<KeyPair, never> {
  for (;;) {
    yield generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }
}
