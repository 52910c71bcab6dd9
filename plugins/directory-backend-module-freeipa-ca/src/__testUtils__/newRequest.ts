import { X509Certificate } from 'node:crypto';
import type {
  SignedCertificate,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/**
 * Creates a request for alice with a new key, which every {@link FakeFreeIpa}
 * signs.
 */
export function newRequest(): SigningRequest {
  return createSigningRequest({
    username: 'alice',
    principal: 'alice@EXAMPLE.TEST',
    profile: 'userCerts',
  });
}

/** Returns the serial number of an issued certificate. */
export function serialOf({ certificate }: SignedCertificate): bigint {
  return BigInt(`0x${new X509Certificate(certificate.der).serialNumber}`);
}

/** Returns the public key of an issued certificate, as in a request. */
export function keyIn({ certificate }: SignedCertificate): Buffer {
  const { publicKey } = new X509Certificate(certificate.der);
  return publicKey.export({ type: 'spki', format: 'der' });
}
