import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePorts } from '@directory-gateway/realm';

/** A Redis server on the loopback interface, without persistence. */
export class RedisServer {
  readonly #port: number;
  readonly #process: ChildProcess;

  private constructor(port: number) {
    this.#port = port;
    // The kernel kills it when this process exits (prctl(2)).
    this.#process = spawn(
      'setpriv',
      [
        ...['--pdeathsig=KILL', 'redis-server', '--bind', '127.0.0.1'],
        ...['--port', `${port}`, '--save', '', '--appendonly', 'no'],
      ],
      { stdio: 'ignore' },
    );
  }

  /** Starts a server and waits until it responds. */
  static async start(): Promise<RedisServer> {
    const [port] = await freePorts(1);
    const redis = new RedisServer(port);
    while ((await redis.#run('PING').catch(() => '')) !== 'PONG\n') {
      if (redis.#process.exitCode !== null) {
        throw new Error('redis-server did not start');
      }
      await sleep(50);
    }
    return redis;
  }

  /** `redis://127.0.0.1:PORT`. */
  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Returns the names of all keys. */
  async keys(): Promise<readonly string[]> {
    return (await this.#run('KEYS', '*')).trim().split('\n');
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }

  async #run(...command: string[]): Promise<string> {
    const args = ['-p', `${this.#port}`, ...command];
    return (await promisify(execFile)('redis-cli', args)).stdout;
  }
}
