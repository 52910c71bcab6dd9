import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { FreeIpaAuthority } from '../FreeIpaAuthority';
import { serveRequests } from './serveRequests';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/** Requests from the parent process. */
export type AuthorityRequest =
  | { readonly method: 'sign'; readonly request: SigningRequest }
  | { readonly method: 'get'; readonly serialNumber: bigint };

const authority = new FreeIpaAuthority({
  config: JSON.parse(process.argv[2]),
  logger: new RecordingLogger(),
});

/** Returns the certificate, DER; class instances cannot be sent. */
serveRequests<AuthorityRequest>(async message => {
  const issued =
    message.method === 'get'
      ? await authority.get(message.serialNumber)
      : await authority.sign({
          ...message.request,
          // Received as Uint8Array.
          csr: Buffer.from(message.request.csr),
          publicKey: Buffer.from(message.request.publicKey),
        });
  return issued?.certificate.der;
});
