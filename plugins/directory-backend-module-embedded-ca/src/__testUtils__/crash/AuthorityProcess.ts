import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { SigningRequest } from '@directory-gateway/backstage-plugin-directory-node';
import type { HostMessage, HostOptions, HostRequest } from './authorityHost';

/** The process ended before it responded. */
export class ProcessEndedError extends Error {
  name = 'ProcessEndedError' as const;
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

/** A promise and its functions (like `Promise.withResolvers` of ES2024). */
function newPromise<T>(): Waiting<T> & { readonly promise: Promise<T> } {
  let waiting: Waiting<T> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    waiting = { resolve, reject };
  });
  return { ...waiting!, promise };
}

/** An embedded CA in a child process, which can be killed. */
export class AuthorityProcess {
  readonly #child: ChildProcess;
  readonly #loaded: Promise<void>;
  readonly #started: Promise<void>;
  readonly #waiting = new Map<number, Waiting<Buffer>>();
  #lastId = 0;

  /** Loads only the code; {@link start} opens the CA. */
  static load(): AuthorityProcess {
    return new AuthorityProcess(
      fork(require.resolve('./authorityHost'), {
        execArgv: [
          '--require',
          require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
        ],
        // Transfers buffers as buffers.
        serialization: 'advanced',
      }),
    );
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
    const loaded = newPromise<void>();
    const started = newPromise<void>();
    // A rejection that is not awaited is not an error.
    loaded.promise.catch(() => {});
    started.promise.catch(() => {});
    this.#loaded = loaded.promise;
    this.#started = started.promise;
    child.on('message', (message: HostMessage) => {
      switch (message.kind) {
        case 'loaded':
          loaded.resolve();
          break;
        case 'started':
          started.resolve();
          break;
        case 'refused':
          started.reject(new Error(message.reason));
          break;
        case 'issued':
          this.#take(message.id)?.resolve(message.certificate);
          break;
        default:
          this.#take(message.id)?.reject(new Error(message.reason));
      }
    });
    child.once('exit', () => {
      const ended = new ProcessEndedError('The process has ended');
      loaded.reject(ended);
      started.reject(ended);
      for (const id of [...this.#waiting.keys()]) {
        this.#take(id)?.reject(ended);
      }
    });
  }

  /** Waits until the code is loaded. */
  async loaded(): Promise<void> {
    await this.#loaded;
  }

  /**
   * Opens the CA.
   *
   * @throws ProcessEndedError when the process is killed.
   */
  async start(options: HostOptions): Promise<void> {
    await this.#loaded;
    this.#send({ kind: 'start', options });
    await this.#started;
  }

  /** @throws ProcessEndedError when the process is killed. */
  async sign(request: SigningRequest): Promise<Buffer> {
    if (!this.#isRunning) {
      throw new ProcessEndedError('The process has ended');
    }
    const id = ++this.#lastId;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ kind: 'sign', id, request });
    });
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    if (this.#isRunning) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await exited;
    }
  }

  /** Whether requests are rejected by a later exit. */
  get #isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #take(id: number): Waiting<Buffer> | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #send(request: HostRequest): void {
    // The exit also reports a failure to send.
    this.#child.send(request, () => {});
  }
}
