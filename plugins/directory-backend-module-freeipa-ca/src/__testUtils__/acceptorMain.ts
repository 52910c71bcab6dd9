import { SpnegoAcceptor } from '@directory-gateway/kerberos';
import { serveRequests } from './serveRequests';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/** Accepts tickets as FreeIPA's Apache does. */
async function main(): Promise<void> {
  const acceptor = await SpnegoAcceptor.create({
    ...JSON.parse(process.argv[2]),
    logger: new RecordingLogger(),
  });
  serveRequests<{ authorization: string }>(({ authorization }) =>
    acceptor.accept(authorization),
  );
}

main();
