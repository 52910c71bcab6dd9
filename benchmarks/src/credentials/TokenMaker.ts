import type { Realm } from '@directory-gateway/realm';
import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { sourceFile } from '../folders';
import type { TokenDelivery, TokenOrder } from './makeTokens';

/** Lets Node read TypeScript, as Backstage's own commands do. */
const LOADER = require.resolve('@backstage/cli-node/config/nodeTransform.cjs');

/**
 * A process that makes Kerberos tokens. The library takes a caller's tickets
 * from the environment, and making one would take the load generator's time.
 */
export class TokenMaker {
  readonly #child: ChildProcess;
  readonly #exit: Promise<never>;

  constructor(options: { readonly cpu: number; readonly realm: Realm }) {
    const { cpu, realm } = options;
    this.#child = fork(sourceFile('credentials/makeTokens.ts'), {
      execPath: 'taskset',
      execArgv: [
        ...['--cpu-list', `${cpu}`],
        ...[process.execPath, '--require', LOADER],
      ],
      env: { ...process.env, KRB5_CONFIG: realm.krb5Config },
      // Out of reach of the terminal's Ctrl-C: the bench ends it in order.
      detached: true,
    });
    this.#exit = once(this.#child, 'exit').then(() => {
      throw new Error('A process that makes Kerberos tokens has ended');
    });
    this.#exit.catch(() => {}); // told to whoever waits for tokens
  }

  /** So many tokens for HTTP/localhost, in base64; one order at a time. */
  async make(order: TokenOrder): Promise<readonly string[]> {
    const delivery = this.#delivery();
    this.#child.send(order);
    const { tokens } = await Promise.race([delivery, this.#exit]);
    return tokens;
  }

  async #delivery(): Promise<TokenDelivery> {
    for await (const [message] of on(this.#child, 'message')) {
      if (message.type === 'tokens') {
        return message;
      }
    }
    throw new Error('No more messages come');
  }

  async stop(): Promise<void> {
    if (this.#child.connected) {
      this.#child.disconnect();
    }
    await this.#exit.catch(() => {});
  }
}
