import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import { FreeIpaAuthority } from '../FreeIpaAuthority';
import { serveRequests } from './serveRequests';
import { MemoryLogger } from './MemoryLogger';

/** What the parent asks of the authority. */
export type AuthorityRequest =
  | { readonly method: 'sign'; readonly request: SigningRequest }
  | { readonly method: 'get'; readonly serialNumber: bigint };

const authority = FreeIpaAuthority.create({
  config: JSON.parse(process.argv[2]),
  logger: new MemoryLogger(),
});

serveRequests<AuthorityRequest>(async asked =>
  asked.method === 'get'
    ? await authority.get(asked.serialNumber)
    : await authority.sign({
        ...asked.request,
        csr: Buffer.from(asked.request.csr), // a plain array on the way here
        publicKey: Buffer.from(asked.request.publicKey),
      }),
);
