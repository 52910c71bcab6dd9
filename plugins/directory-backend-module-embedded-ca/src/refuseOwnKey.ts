import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  AuthorityRefusalError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { SigningAuthority } from './authority/SigningAuthority';

/**
 * Refuses to certify the authority's own key: whoever could sign a CSR with it
 * would have it. Keys are compared, not their encodings.
 *
 * @throws AuthorityRefusalError
 */
export function refuseOwnKey(
  request: SigningRequest,
  authority: SigningAuthority,
): void {
  if (readPublicKey(request.publicKey).equals(authority.publicKey)) {
    throw new AuthorityRefusalError(
      'The public key is that of the certificate authority.',
    );
  }
}

function readPublicKey(key: Buffer): KeyObject {
  try {
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    // What OpenSSL says about it tells the caller nothing.
    throw new AuthorityRefusalError('The public key cannot be read.');
  }
}
