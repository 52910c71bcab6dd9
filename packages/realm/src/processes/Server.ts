import type { ChildProcess } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { probe } from './ports';
import { exitOf, type Command, type ProcessOwner } from './ProcessOwner';

interface ServerOptions {
  owner: ProcessOwner;
  command: Command;
  /** TCP port of 127.0.0.1. */
  port: number;
  /** Sign that the server is ready. */
  until: 'connected' | 'response';
  /**
   * How much later than requested the main thread may wake up from a pause, in
   * milliseconds. Default: that of the system.
   */
  timerSlackMs?: number;
}

/** Timeout for a start or a stop. */
const TIMEOUT_MS = 60_000;

/** A server process that can be started repeatedly. */
export class Server {
  readonly #options: ServerOptions;
  #child?: ChildProcess;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /**
   * @throws Error with the end of its log when it exits or does not become
   * ready
   */
  async start(): Promise<void> {
    if (this.#running()) {
      return;
    }
    const { owner, command, port, until, timerSlackMs } = this.#options;
    const child = owner.start(command);
    this.#child = child;
    let log = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-2000);
    });
    const waiting = new AbortController();
    try {
      await Promise.race([
        probe({ port, until, signal: waiting.signal }),
        exitOf(child).then(code => {
          throw new Error(`${command.program} exited (${code}): ${log.trim()}`);
        }),
        setTimeout(TIMEOUT_MS, undefined, waiting).then(() => {
          throw new Error(`${command.program} is not ready: ${log.trim()}`);
        }),
      ]);
    } finally {
      waiting.abort();
    }
    if (timerSlackMs !== undefined) {
      await writeFile(
        `/proc/${child.pid}/timerslack_ns`,
        `${timerSlackMs * 1_000_000}`,
      );
    }
  }

  /** Sends SIGTERM, or SIGKILL after a timeout, and waits. */
  async stop(): Promise<void> {
    const child = this.#running();
    if (child) {
      this.resume();
      child.kill('SIGTERM');
      const stuck = new AbortController();
      const force = setTimeout(TIMEOUT_MS, undefined, stuck).then(
        () => child.kill('SIGKILL'),
        () => {},
      );
      await exitOf(child);
      stuck.abort();
      await force;
    }
  }

  /** Sends SIGKILL and waits. */
  async kill(): Promise<void> {
    const child = this.#running();
    child?.kill('SIGKILL');
    await (child && exitOf(child));
  }

  /** Stops the process: connections stay open without responses. */
  async pause(): Promise<void> {
    const child = this.#running();
    child?.kill('SIGSTOP');
    // A thread may still run and respond after the signal was sent.
    while (child?.pid && !(await isStopped(child.pid))) {
      await setTimeout(1);
    }
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

/** Whether all threads of a process are stopped, or have ended. */
async function isStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(
    threads.map(async thread => {
      const status = await readFile(
        `/proc/${pid}/task/${thread}/status`,
        'utf8',
      ).catch(() => '');
      return /^State:\s+(\w)/m.exec(status)?.[1] ?? 'X';
    }),
  );
  return states.every(state => 'TXZ'.includes(state));
}
