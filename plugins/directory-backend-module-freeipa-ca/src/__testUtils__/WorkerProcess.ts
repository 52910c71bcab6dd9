import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** What a worker answers. */
export type WorkerAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };

/** The answer that nobody has asked for: the worker has started. */
export const READY = 0;

/**
 * A module of this folder in a process of its own. Jest hands its tests a copy
 * of `process.env`, which the Kerberos library never sees.
 */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: WorkerAnswer) => void>();
  #lastId = READY;

  static async start(options: {
    /** For example `./authorityMain`. */
    readonly module: string;
    /** Handed over as JSON. */
    readonly argument: unknown;
    readonly env: NodeJS.ProcessEnv;
  }): Promise<WorkerProcess> {
    const child = fork(
      require.resolve(options.module),
      [JSON.stringify(options.argument)],
      {
        env: options.env,
        execArgv: [
          '--require',
          require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
        ],
        serialization: 'advanced',
      },
    );
    const worker = new WorkerProcess(child);
    await Promise.race([
      worker.#answer(READY),
      once(child, 'exit').then(() => {
        throw new Error(`${options.module} did not start`);
      }),
    ]);
    return worker;
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer: WorkerAnswer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  /** @throws Error `name: message` with which the worker failed. */
  async ask(request: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#child.send({ ...request, id });
    const answer = await this.#answer(id);
    if ('failure' in answer) {
      throw new Error(answer.failure);
    }
    return answer.result;
  }

  async #answer(id: number): Promise<WorkerAnswer> {
    return await new Promise(resolve => this.#waiting.set(id, resolve));
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.disconnect();
      await once(this.#child, 'exit');
    }
  }
}
