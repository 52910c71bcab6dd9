import type { Report, Request } from './messages';
import { RealmServers } from './RealmServers';

/*
 * The process that owns a realm. The realm ends when the channel to the caller
 * closes. The process leads its own session, so that Ctrl-C in the caller's
 * terminal does not reach its servers.
 */

const servers = new RealmServers(progress => report({ progress }));
let ending: Promise<void> | undefined;

process.on('message', async (request: Request) => {
  const { id } = request;
  try {
    if ('start' in request) {
      report({ id, facts: await servers.start(request.start) });
    } else if ('directory' in request) {
      await servers.directory[request.directory]();
      report({ id });
    } else if ('kdc' in request) {
      await servers.kdc[request.kdc]();
      report({ id });
    } else {
      await end();
    }
  } catch (error) {
    if (!ending) {
      const message = error instanceof Error ? error.message : String(error);
      report({ id, error: message });
    }
    if ('start' in request) {
      await end();
    }
  }
});
process.on('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, end);
}

async function end(): Promise<void> {
  ending ??= servers.end();
  await ending;
  process.exit(0);
}

function report(message: Report): void {
  if (process.connected) {
    process.send?.(message);
  }
}
