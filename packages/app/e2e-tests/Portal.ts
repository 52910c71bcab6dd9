import { freePorts, type Realm } from '@directory-gateway/realm';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const repository = resolve(__dirname, '../../..');

/** The portal as started by `make start`, with its own realm and port. */
export class Portal {
  /** For example `http://localhost:40123`. */
  readonly url: string;
  readonly realm: Realm;
  readonly #process: ChildProcess;
  readonly #log: readonly string[];

  /**
   * Starts the output of `scripts/build` and waits until it is ready.
   *
   * @throws Error with the log when the process exits earlier
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
      child.once('exit', () => fail(new Error(log.join('\n'))));
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
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
  }
}
