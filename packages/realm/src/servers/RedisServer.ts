import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../processes/ports';

/**
 * A Redis server of Debian's package on a port of the loopback interface, which
 * keeps nothing.
 */
export class RedisServer {
  /** `redis://127.0.0.1:PORT`. */
  readonly url: string;
  readonly #port: number;
  readonly #folder: string;
  readonly #process: ChildProcess;

  static async start(): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'redis-'));
    const [port] = await freePorts(1);
    const server = new RedisServer({ folder, port });
    await server.#untilReady();
    return server;
  }

  private constructor(options: {
    readonly folder: string;
    readonly port: number;
  }) {
    this.#folder = options.folder;
    this.#port = options.port;
    this.url = `redis://127.0.0.1:${options.port}`;
    this.#process = spawn(
      'setpriv',
      [
        // It ends with the tests, however they end (prctl(2)).
        ...['--pdeathsig=KILL', 'redis-server'],
        ...['--bind', '127.0.0.1', '--port', `${options.port}`],
        ...['--dir', options.folder, '--save', '', '--appendonly', 'no'],
      ],
      { stdio: 'ignore' },
    );
  }

  /** The names of all that is kept now. */
  async keys(): Promise<readonly string[]> {
    const [, ...lines] = (await this.#tell('KEYS *')).split('\r\n');
    return lines.filter(line => line !== '' && !line.startsWith('$'));
  }

  async stop(): Promise<void> {
    if (this.#isAlive) {
      this.#process.kill('SIGTERM');
      await once(this.#process, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  async #untilReady(): Promise<void> {
    for (let attempt = 0; attempt < 200 && this.#isAlive; attempt++) {
      const answer = await this.#tell('PING').catch(() => '');
      if (answer.startsWith('+PONG')) {
        return;
      }
      await sleep(50);
    }
    await this.stop();
    throw new Error('Redis did not start: "apt-get install redis-server"');
  }

  /** In the protocol's form for people, on a connection of its own. */
  async #tell(command: string): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port: this.#port });
    socket.end(`${command}\r\nQUIT\r\n`);
    return await text(socket);
  }
}
