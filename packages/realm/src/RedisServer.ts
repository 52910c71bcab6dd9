import { join } from 'node:path';
import { createFolder, removeFolder, run } from './processes';
import { freePorts, Server } from './Server';

/** A Redis server on the loopback interface, without persistence. */
export class RedisServer {
  readonly #port: number;
  readonly #folder: string;
  readonly #server: Server;

  private constructor(port: number, folder: string) {
    this.#port = port;
    this.#folder = folder;
    this.#server = new Server({
      program: 'redis-server',
      args: [
        ...['--bind', '127.0.0.1', '--port', `${port}`],
        ...['--dir', folder, '--save', '', '--appendonly', 'no'],
        // Redis replaces its command line.
        ...['--proc-title-template', `{title} ${folder}`],
      ],
      port,
      log: join(folder, 'redis.log'),
    });
  }

  /** @throws Error when Debian's `redis-server` is missing or fails */
  static async start(): Promise<RedisServer> {
    const folder = await createFolder('redis-');
    const [port] = await freePorts(1);
    const redis = new RedisServer(port, folder);
    try {
      await redis.#server.start();
    } catch (error) {
      await redis.stop();
      throw error;
    }
    return redis;
  }

  /** `redis://127.0.0.1:PORT`. */
  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Returns the names of all keys. */
  async keys(): Promise<readonly string[]> {
    const args = ['-p', `${this.#port}`, 'KEYS', '*'];
    const output = await run({ program: 'redis-cli', args });
    return output.split('\n').filter(line => line !== '');
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await removeFolder(this.#folder);
  }
}
