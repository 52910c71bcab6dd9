import type { LoggerService } from '@backstage/backend-plugin-api';
import { KerberosResult } from '../KerberosService';
import { SpnegoAcceptor } from '../SpnegoAcceptor';

/** What the parent asks. */
export interface AcceptorRequest {
  id: number;
  header: string | readonly string[] | undefined;
}

/** What the child says: that it is ready, a line of its log, an answer. */
export type AcceptorMessage =
  | { kind: 'ready' }
  | { kind: 'log'; line: string }
  | { kind: 'answer'; id: number; result: KerberosResult };

function tell(message: AcceptorMessage): void {
  process.send?.(message);
}

/** Debug lines are left out: they are no promise. */
const logger: LoggerService = {
  error: message => tell({ kind: 'log', line: `error ${message}` }),
  warn: message => tell({ kind: 'log', line: `warn ${message}` }),
  info: message => tell({ kind: 'log', line: `info ${message}` }),
  debug: () => {},
  child: () => logger,
};

async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2]);
  const acceptor = await SpnegoAcceptor.create({ ...options, logger });
  process.on('message', async ({ id, header }: AcceptorRequest) => {
    tell({ kind: 'answer', id, result: await acceptor.accept(header) });
  });
  tell({ kind: 'ready' });
}

main();
