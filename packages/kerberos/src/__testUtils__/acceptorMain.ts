import type { LoggerService } from '@backstage/backend-plugin-api';
import { KerberosResult } from '../KerberosService';
import { SpnegoAcceptor } from '../SpnegoAcceptor';

/** A call from the parent. */
export interface AcceptorRequest {
  id: number;
  header: string | readonly string[] | undefined;
}

/** A message of the child: ready, a line of its log, or a result. */
export type AcceptorMessage =
  | { kind: 'ready' }
  | { kind: 'log'; line: string }
  | { kind: 'result'; id: number; result: KerberosResult };

function send(message: AcceptorMessage): void {
  process.send?.(message);
}

/** Without debug lines. */
const logger: LoggerService = {
  error: message => send({ kind: 'log', line: `error ${message}` }),
  warn: message => send({ kind: 'log', line: `warn ${message}` }),
  info: message => send({ kind: 'log', line: `info ${message}` }),
  debug: () => {},
  child: () => logger,
};

async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2]);
  const acceptor = await SpnegoAcceptor.create({ ...options, logger });
  process.on('message', async ({ id, header }: AcceptorRequest) => {
    send({ kind: 'result', id, result: await acceptor.accept(header) });
  });
  send({ kind: 'ready' });
}

main();
