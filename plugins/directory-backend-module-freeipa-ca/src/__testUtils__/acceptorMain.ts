import { SpnegoAcceptor } from '@directory-gateway/kerberos';
import { serveRequests } from './serveRequests';
import { MemoryLogger } from './MemoryLogger';

/** What FreeIPA's Apache does with a ticket. */
async function main(): Promise<void> {
  const acceptor = await SpnegoAcceptor.create({
    ...JSON.parse(process.argv[2]),
    logger: new MemoryLogger(),
  });
  serveRequests<{ authorization: string }>(({ authorization }) =>
    acceptor.accept(authorization),
  );
}

main();
