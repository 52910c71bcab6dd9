import { ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { KerberosResult } from '../KerberosService';
import { KerberosConfig } from '../readKerberosConfig';
import type { AcceptorMessage, AcceptorRequest } from './acceptorMain';

interface PendingCall {
  resolve(result: KerberosResult): void;
  reject(error: Error): void;
}

/**
 * A `SpnegoAcceptor` in a child process: Jest gives tests a copy of `process.env`, which the Kerberos
 * library does not read, and a test must notice when a token crashes the process.
 */
export class AcceptorProcess {
  /** Log of the acceptor, each line prefixed with its level. */
  readonly log = new Array<string>();
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;

  static async start(options: {
    config: KerberosConfig;
    env: NodeJS.ProcessEnv;
  }): Promise<AcceptorProcess> {
    const child = fork(
      require.resolve('./acceptorMain'),
      [JSON.stringify(options.config)],
      {
        env: options.env,
        execArgv: [
          '--require',
          require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
        ],
      },
    );
    const acceptor = new AcceptorProcess(child);
    await Promise.race([
      once(child, 'ready'),
      once(child, 'exit').then(() => {
        throw new Error('The acceptor failed to start');
      }),
    ]);
    return acceptor;
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: AcceptorMessage) => {
      switch (message.kind) {
        case 'ready':
          child.emit('ready');
          break;
        case 'log':
          this.log.push(message.line);
          break;
        default:
          this.#pending.get(message.id)?.resolve(message.result);
          this.#pending.delete(message.id);
      }
    });
    child.once('exit', () => {
      for (const { reject } of this.#pending.values()) {
        reject(new Error('The acceptor exited'));
      }
    });
  }

  async accept(header: AcceptorRequest['header']): Promise<KerberosResult> {
    this.#lastId += 1;
    const request: AcceptorRequest = { id: this.#lastId, header };
    return await new Promise((resolve, reject) => {
      this.#pending.set(request.id, { resolve, reject });
      this.#child.send(request);
    });
  }

  /**
   * Outcome for a Negotiate token: `accepted`, `unavailable`, or the reason for
   * a refusal.
   */
  async outcomeOf(token: Buffer | string): Promise<string> {
    const base64 = typeof token === 'string' ? token : token.toString('base64');
    const result = await this.accept(`Negotiate ${base64}`);
    return result.outcome === 'refused' ? result.reason : result.outcome;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.disconnect();
      await once(this.#child, 'exit');
    }
  }
}
