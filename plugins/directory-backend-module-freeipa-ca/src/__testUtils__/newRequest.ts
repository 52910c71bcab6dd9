import { X509Certificate } from 'node:crypto';
import type {
  IssuedCertificate,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createSigningRequest } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/** A request of alice's that every stand-in signs, with a new key. */
export function newRequest(): SigningRequest {
  return createSigningRequest({
    username: 'alice',
    principal: 'alice@EXAMPLE.TEST',
    profile: 'userCerts',
  });
}

/** The serial number of what was issued. */
export function serialOf({ certificate }: IssuedCertificate): bigint {
  return BigInt(`0x${new X509Certificate(certificate).serialNumber}`);
}

/** The public key that was certified, in the form of a request's. */
export function keyIn({ certificate }: IssuedCertificate): Buffer {
  const { publicKey } = new X509Certificate(certificate);
  return publicKey.export({ type: 'spki', format: 'der' });
}
