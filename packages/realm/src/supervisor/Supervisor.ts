import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PACKAGE_FOLDER, type ResolvedOptions } from '../RealmOptions';
import type {
  DirectoryAction,
  KdcAction,
  RealmFacts,
  Report,
  RequestContent,
} from './messages';

/** Compiles TypeScript for Node, as Backstage's commands do. */
const LOADER = require.resolve('@backstage/cli-node/config/nodeTransform.cjs');

type Result = Exclude<Report, { progress: string }>;

/** The caller's handle to the process that owns a realm. */
export class Supervisor {
  readonly #child: ChildProcess;
  readonly #exit: Promise<void>;
  readonly #pending = new Map<number, (result: Result) => void>();
  #lastId = 0;

  private constructor(child: ChildProcess, onProgress: (step: string) => void) {
    this.#child = child;
    // The loader sends messages of other types.
    child.on('message', (report: Report) => {
      if ('progress' in report) {
        onProgress(report.progress);
      } else if ('id' in report) {
        this.#pending.get(report.id)?.(report);
      }
    });
    this.#exit = once(child, 'exit').then(() => {
      for (const [id, settle] of this.#pending) {
        settle({ id, error: 'The realm has stopped' });
      }
    });
  }

  /**
   * Starts a realm in a separate process.
   *
   * @throws Error with the reason when it fails; nothing remains
   */
  static async start(
    options: ResolvedOptions,
    {
      onProgress,
      signal,
    }: { onProgress: (step: string) => void; signal?: AbortSignal },
  ): Promise<{ supervisor: Supervisor; facts: RealmFacts }> {
    signal?.throwIfAborted();
    const child = fork(join(PACKAGE_FOLDER, 'src/supervisor/main.ts'), [], {
      execArgv: ['--require', LOADER],
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const supervisor = new Supervisor(child, onProgress);
    const abort = () => void supervisor.stop();
    signal?.addEventListener('abort', abort);
    try {
      const { facts } = await supervisor.#request({ start: options });
      child.unref();
      return { supervisor, facts: facts! };
    } catch (error) {
      await supervisor.#exit;
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Resolves when the realm has ended; keeps the caller alive until then. */
  async ended(): Promise<void> {
    this.#child.ref();
    await this.#exit;
  }

  /** Ends the realm; can be called repeatedly. */
  async stop(): Promise<void> {
    if (this.#child.connected) {
      this.#child.send({ id: 0, end: true });
    }
    await this.ended();
  }

  /** @throws Error when the directory server fails */
  async directory(action: DirectoryAction): Promise<void> {
    await this.#request({ directory: action });
  }

  /** @throws Error when the KDC fails */
  async kdc(action: KdcAction): Promise<void> {
    await this.#request({ kdc: action });
  }

  async #request(content: RequestContent): Promise<Result> {
    if (!this.#child.connected) {
      throw new Error('The realm has stopped');
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const settled = new Promise<Result>(resolve => {
      this.#pending.set(id, resolve);
    });
    this.#child.channel?.ref();
    this.#child.send({ id, ...content });
    const result = await settled;
    this.#pending.delete(id);
    if (this.#pending.size === 0) {
      this.#child.channel?.unref();
    }
    if (result.error !== undefined) {
      throw new Error(result.error);
    }
    return result;
  }
}
