import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PUBLIC_URL, type TestCa } from '../TestCa';

const PROGRAM = join(
  dirname(require.resolve('@directory-gateway/ca/package.json')),
  'bin/directory-ca',
);

/** `directory-ca serve` with the issuer and the log of a test. */
export class SignerProcess {
  /** Absolute path of its socket. */
  readonly socket: string;
  readonly #config: string;
  #child: ChildProcess | undefined;

  static async create(ca: TestCa): Promise<SignerProcess> {
    const folder = join(ca.folder, 'signer');
    await mkdir(folder, { mode: 0o700 });
    const process = new SignerProcess(folder);
    const { socket } = process;
    // JSON is YAML.
    await writeFile(
      process.#config,
      JSON.stringify({ ...ca.block(), publicUrl: PUBLIC_URL, socket }),
      { mode: 0o600 },
    );
    return process;
  }

  private constructor(folder: string) {
    this.socket = join(folder, 'signer.sock');
    this.#config = join(folder, 'config.yaml');
  }

  /** Starts the process, unless it is running, and waits until it listens. */
  async start(): Promise<void> {
    if (!this.#child) {
      const child = spawn(
        PROGRAM,
        ['serve', '--config', this.#config, '--allow-root'],
        { stdio: ['ignore', 'ignore', 'inherit'] },
      );
      this.#child = child;
      child.once('exit', () => {
        this.#child = undefined;
      });
    }
    while (!(await this.#isListening())) {
      if (!this.#child) {
        throw new Error('directory-ca has ended');
      }
      await sleep(20);
    }
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
  }

  async #isListening(): Promise<boolean> {
    const socket = connect(this.socket);
    return (await new Promise(resolve => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    }).finally(() => socket.destroy())) as boolean;
  }
}
