import type { ChildProcess } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import {
  exitOf,
  type Command,
  type ProcessOwner,
} from '../processes/ProcessOwner';
import { probe } from '../processes/ports';

export interface ServerOptions {
  owner: ProcessOwner;
  command: Command;
  /** Where it listens, and what tells that it is there. */
  port: number;
  until: 'connected' | 'answered';
}

/** A server may take this long to start or to stop before it counts as stuck. */
const PATIENCE_MS = 60_000;

/** One server process that can be started, ended and started again. */
export class Server {
  readonly #options: ServerOptions;
  #child?: ChildProcess;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** @throws Error with its last words when it ends instead of starting */
  async start(): Promise<void> {
    if (this.#running()) {
      return;
    }
    const { owner, command, port, until } = this.#options;
    const child = owner.start(command);
    this.#child = child;
    let words = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-2000);
    });
    const waiting = new AbortController();
    try {
      await Promise.race([
        probe({ port, until, signal: waiting.signal }),
        exitOf(child).then(code => {
          throw new Error(
            `${command.program} ended (${code}): ${words.trim()}`,
          );
        }),
        setTimeout(PATIENCE_MS, undefined, waiting).then(() => {
          throw new Error(
            `${command.program} does not answer: ${words.trim()}`,
          );
        }),
      ]);
    } finally {
      waiting.abort();
    }
  }

  /** Asks it to end and waits until it has. */
  async stop(): Promise<void> {
    const child = this.#running();
    if (child) {
      this.resume();
      child.kill('SIGTERM');
      const stuck = new AbortController();
      const force = setTimeout(PATIENCE_MS, undefined, stuck).then(
        () => child.kill('SIGKILL'),
        () => {},
      );
      await exitOf(child);
      stuck.abort();
      await force;
    }
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    const child = this.#running();
    child?.kill('SIGKILL');
    await (child && exitOf(child));
  }

  /** Stops it from answering, as a machine that hangs would. */
  pause(): void {
    this.#running()?.kill('SIGSTOP');
  }

  resume(): void {
    this.#running()?.kill('SIGCONT');
  }

  #running(): ChildProcess | undefined {
    const child = this.#child;
    return child?.exitCode === null && child.signalCode === null
      ? child
      : undefined;
  }
}
