import { isTyped, type Report, type Request } from './messages';
import { RealmServers } from './RealmServers';

/*
 * The process that owns a realm. Its caller talks to it over the channel that
 * `fork` makes; when that closes, because the caller has gone in whatever way,
 * everything ends. It is the leader of a session of its own, so a Ctrl-C in
 * the caller's terminal does not reach it or its servers.
 */

const servers = new RealmServers(step => report({ type: 'progress', step }));
let ending: Promise<void> | undefined;

process.on('message', message => {
  if (isTyped(message)) {
    void obey(message as Request);
  }
});
process.on('disconnect', () => void end());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void end());
}

async function obey(request: Request): Promise<void> {
  switch (request.type) {
    case 'start':
      try {
        report({ type: 'ready', facts: await servers.start(request.options) });
      } catch (error) {
        if (!ending) {
          report({ type: 'failed', message: messageOf(error) });
        }
        await end();
      }
      break;
    case 'directory':
      try {
        await servers.directory[request.action]();
        report({ type: 'done', id: request.id });
      } catch (error) {
        report({ type: 'done', id: request.id, error: messageOf(error) });
      }
      break;
    case 'stop':
      await end();
      break;
    default:
      break; // of a newer caller
  }
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
