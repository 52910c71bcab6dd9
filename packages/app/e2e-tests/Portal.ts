import { freePorts, type Realm } from '@directory-gateway/realm';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** Number of lines of output in the error of a portal that exited. */
const LAST_LINES = 30;

const repository = resolve(__dirname, '../../..');

function exitedWith(log: readonly string[]): Error {
  const output = log.slice(-LAST_LINES).join('\n');
  return new Error(`The portal exited by itself. Its last output:\n${output}`);
}

/** The portal as started by `make start`, with its own realm and port. */
export class Portal {
  /** For example `http://localhost:40123`. */
  readonly url: string;
  readonly realm: Realm;
  readonly #process: ChildProcess;
  readonly #log: readonly string[];
  #isStopping = false;

  /**
   * Starts the output of `scripts/build` and waits until it is ready.
   *
   * @throws Error with the last output when the process exits earlier. When it
   * exits later by itself, the current test fails.
   */
  static async start(options: {
    readonly realm: Realm;
    /**
     * Configuration files, loaded after those of the demo. Defaults to none.
     */
    readonly config?: readonly string[];
  }): Promise<Portal> {
    const { realm, config = [] } = options;
    const [port] = await freePorts(1);
    const url = `http://localhost:${port}`;
    const child = spawn(
      process.execPath,
      [join(repository, 'scripts/portal.mjs'), 'built', ...config],
      {
        env: { ...process.env, ...realm.env, PORT: `${port}`, PORTAL_URL: url },
        // The portal exits when the IPC channel of this process closes.
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    const log: string[] = [];
    await new Promise<void>((ready, fail) => {
      for (const input of [child.stdout, child.stderr]) {
        const lines = input ? createInterface(input) : undefined;
        lines?.on('line', line => {
          log.push(line);
          if (line.startsWith('Ctrl-C stops')) {
            ready();
          }
        });
      }
      // Unlike `exit`, after the last output.
      child.once('close', () => fail(exitedWith(log)));
    });
    return new Portal({ url, realm, child, log });
  }

  private constructor(options: {
    readonly url: string;
    readonly realm: Realm;
    readonly child: ChildProcess;
    readonly log: readonly string[];
  }) {
    this.url = options.url;
    this.realm = options.realm;
    this.#process = options.child;
    this.#log = options.log;
    options.child.once('close', () => {
      if (!this.#isStopping) {
        // Playwright ends the test at once, which would otherwise wait.
        throw exitedWith(this.#log);
      }
    });
  }

  /** Returns the log until now. */
  log(): string {
    return this.#log.join('\n');
  }

  /** Stops the directory and waits until the portal rejects its stale data. */
  async stopDirectory(): Promise<void> {
    await this.realm.directory.stop();
    await this.#untilReady(503);
  }

  /** Starts the directory and waits until the portal serves its data. */
  async startDirectory(): Promise<void> {
    await this.realm.directory.start();
    await this.#untilReady(200);
  }

  async #untilReady(status: 200 | 503): Promise<void> {
    const url = `${this.url}/api/directory/healthz/ready`;
    while ((await fetch(url)).status !== status) {
      await sleep(100);
    }
  }

  /** Stops the portal and waits until it exits. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
  }
}
