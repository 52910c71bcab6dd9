import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../RealmOptions';
import type { ResolvedOptions } from '../RealmOptions';
import {
  isTyped,
  type DirectoryAction,
  type RealmFacts,
  type Report,
  type Request,
} from './messages';

/** Lets Node read TypeScript, as Backstage's own commands do. */
const LOADER = [
  '--require',
  require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
];

/** How a caller takes part in the start. */
export interface Starting {
  onProgress: (step: string) => void;
  /** Gives up. */
  signal?: AbortSignal;
}

/** The caller's end of the process that owns a realm. */
export class Supervisor {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #pending = new Map<number, (error?: string) => void>();
  #lastId = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, 'exit').then(() => {
      for (const settle of this.#pending.values()) {
        settle('The realm has ended');
      }
    });
  }

  /**
   * Starts a realm in a process of its own.
   *
   * @throws Error with the reason, when it does not come up; nothing is left
   * behind
   */
  static async start(
    options: ResolvedOptions,
    { onProgress, signal }: Starting,
  ): Promise<{ supervisor: Supervisor; facts: RealmFacts }> {
    signal?.throwIfAborted();
    const child = fork(join(PACKAGE_FOLDER, 'src/supervisor/main.ts'), [], {
      execArgv: LOADER,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const supervisor = new Supervisor(child);
    const giveUp = () => void supervisor.stop();
    signal?.addEventListener('abort', giveUp);
    try {
      const facts = await supervisor.#ready(options, onProgress);
      child.on('message', message => supervisor.#settle(message as Report));
      child.unref();
      child.channel?.unref();
      return { supervisor, facts };
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Resolves when the realm has ended; keeps the caller alive until then. */
  async ended(): Promise<void> {
    this.#child.ref();
    await this.#exit;
  }

  /** Ends the realm; harmless when it has ended. */
  async stop(): Promise<void> {
    if (this.#child.connected) {
      this.#send({ type: 'stop' });
    }
    await this.ended();
  }

  /** @throws Error when the directory server does not do as asked */
  async directory(action: DirectoryAction): Promise<void> {
    if (!this.#child.connected) {
      throw new Error('The realm has ended');
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise<string | undefined>(resolve => {
      this.#pending.set(id, resolve);
    });
    this.#child.channel?.ref();
    this.#send({ type: 'directory', id, action });
    const error = await answer;
    this.#pending.delete(id);
    if (this.#pending.size === 0) {
      this.#child.channel?.unref();
    }
    if (error !== undefined) {
      throw new Error(error);
    }
  }

  #ready(
    options: ResolvedOptions,
    onProgress: (step: string) => void,
  ): Promise<RealmFacts> {
    return new Promise((resolve, reject) => {
      let reason = 'The realm ended while starting';
      this.#child.on('message', message => {
        if (!isTyped(message)) {
          return;
        }
        const report = message as Report;
        if (report.type === 'progress') {
          onProgress(report.step);
        } else if (report.type === 'ready') {
          resolve(report.facts);
        } else if (report.type === 'failed') {
          reason = report.message; // and it ends, having cleaned up
        }
      });
      void this.#exit.then(() => reject(new Error(reason)));
      this.#send({ type: 'start', options });
    });
  }

  #settle(report: Report): void {
    if (isTyped(report) && report.type === 'done') {
      this.#pending.get(report.id)?.(report.error);
    }
  }

  #send(request: Request): void {
    this.#child.send(request);
  }
}
