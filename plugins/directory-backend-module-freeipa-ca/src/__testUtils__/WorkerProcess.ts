import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Response of a worker. */
export type WorkerResponse =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: string };

/** Id of the message that the worker has started. */
export const READY = 0;

/**
 * Runs a module of this folder in a child process. Jest gives tests a copy of
 * `process.env`, which the Kerberos library does not read.
 */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (response: WorkerResponse) => void>();
  #lastId = READY;

  static async start(options: {
    /** For example `./authorityMain`. */
    readonly module: string;
    /** Passed as JSON. */
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
      worker.#response(READY),
      once(child, 'exit').then(() => {
        throw new Error(`${options.module} did not start`);
      }),
    ]);
    return worker;
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (response: WorkerResponse) => {
      this.#waiting.get(response.id)?.(response);
      this.#waiting.delete(response.id);
    });
  }

  /** @throws Error with the message `name: message` of the worker's error. */
  async request(message: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#child.send({ ...message, id });
    const response = await this.#response(id);
    if ('failure' in response) {
      throw new Error(response.failure);
    }
    return response.result;
  }

  async #response(id: number): Promise<WorkerResponse> {
    return await new Promise(resolve => this.#waiting.set(id, resolve));
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.disconnect();
      await once(this.#child, 'exit');
    }
  }
}
