import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePorts } from '../processes/ports';
import { ProcessOwner } from '../processes/ProcessOwner';
import { Server } from '../processes/Server';

/** A Redis server on the loopback interface, without persistence. */
export class RedisServer {
  /** `redis://127.0.0.1:PORT`. */
  readonly url: string;
  readonly #port: number;
  readonly #folder: string;
  readonly #server: Server;

  private constructor(port: number, folder: string) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#port = port;
    this.#folder = folder;
    this.#server = new Server({
      owner: new ProcessOwner(),
      command: {
        // The kernel kills it when this process exits (prctl(2)).
        program: 'setpriv',
        args: [
          ...['--pdeathsig=KILL', 'redis-server'],
          ...['--bind', '127.0.0.1', '--port', `${port}`],
          ...['--dir', folder, '--save', '', '--appendonly', 'no'],
        ],
      },
      port,
      until: 'connected',
    });
  }

  /** @throws Error when Debian's `redis-server` is missing or fails */
  static async start(): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'redis-'));
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

  /** Returns the names of all keys. */
  async keys(): Promise<readonly string[]> {
    // Sends an inline command on a new connection.
    const socket = connect({ host: '127.0.0.1', port: this.#port });
    socket.end('KEYS *\r\nQUIT\r\n');
    const [, ...lines] = (await text(socket)).split('\r\n');
    return lines.filter(line => line !== '' && !/^[$+]/.test(line));
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
