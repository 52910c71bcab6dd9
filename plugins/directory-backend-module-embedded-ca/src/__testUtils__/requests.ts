import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/**
 * Returns alice's request for `userCerts` with a new P-256 key and the given
 * changes.
 */
export function aliceRequest(
  changes: Partial<SigningRequest> = {},
): SigningRequest {
  return {
    ...createSigningRequest({
      username: 'alice',
      principal: 'alice@EXAMPLE.TEST',
      profile: 'userCerts',
    }),
    ...changes,
  };
}

/** Types of users' keys. */
export const KEY_TYPES = [
  'RSA-2048',
  'RSA-4096',
  'P-256',
  'P-384',
  'P-521',
  'Ed25519',
] as const;

/** Generates a key of a type. */
export function newKeyPair(type: (typeof KEY_TYPES)[number]): {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
} {
  switch (type) {
    case 'Ed25519':
      return generateKeyPairSync('ed25519');
    case 'RSA-2048':
    case 'RSA-4096':
      return generateKeyPairSync('rsa', {
        modulusLength: Number(type.slice(4)),
      });
    default:
      return generateKeyPairSync('ec', { namedCurve: type });
  }
}
