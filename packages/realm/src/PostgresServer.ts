import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import createKnex, { type Knex } from 'knex';
import { createFolder, removeFolder, run } from './processes';

/** PostgreSQL does not run as root, but as the account of Debian's package. */
const IS_ROOT = userInfo().uid === 0;

/** Folder of the versions of PostgreSQL, in Debian. */
const VERSIONS = '/usr/lib/postgresql';

/** A PostgreSQL server that listens on a socket in its private folder. */
export class PostgresServer {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws Error when Debian's `postgresql` is missing or fails */
  static async start(): Promise<PostgresServer> {
    const folder = await createFolder('postgres-');
    if (IS_ROOT) {
      await run({ program: 'chown', args: ['postgres', folder] });
    }
    const server = new PostgresServer(folder);
    await server.#run('initdb', [
      ...['--pgdata', join(folder, 'data'), '--no-sync'],
      ...['--auth=trust', '--username=postgres'],
      ...['--encoding=UTF8', '--locale=C.UTF-8'],
    ]);
    await server.resume();
    return server;
  }

  /** Creates an empty database and returns its name. */
  async createDatabase(): Promise<string> {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await this.#run('createdb', ['-h', this.#folder, '-U', 'postgres', name]);
    return name;
  }

  /** Returns the connection to a database for Knex. */
  connection(database: string) {
    return { host: this.#folder, user: 'postgres', database };
  }

  /** Connects to a database. */
  connect(database: string): Knex {
    return createKnex({
      client: 'pg',
      connection: this.connection(database),
      acquireConnectionTimeout: 10_000,
      // Tests interrupt connections deliberately.
      log: { warn() {}, error() {} },
    });
  }

  /** Starts the server again and waits until it is ready. */
  async resume(): Promise<void> {
    await this.#control('start', [
      ...['--log', join(this.#folder, 'postgres.log'), '--timeout=120'],
      ...['--options', `-k ${this.#folder} -c listen_addresses=`],
    ]);
  }

  /** Stops the server as a crash would; keeps its folder. */
  async interrupt(): Promise<void> {
    if (existsSync(join(this.#folder, 'data/postmaster.pid'))) {
      await this.#control('stop', ['--mode=immediate']);
    }
  }

  async stop(): Promise<void> {
    await this.interrupt();
    await removeFolder(this.#folder);
  }

  async #control(action: string, options: readonly string[]): Promise<void> {
    const data = join(this.#folder, 'data');
    await this.#run('pg_ctl', [action, '--pgdata', data, '--wait', ...options]);
  }

  async #run(name: string, args: readonly string[]): Promise<void> {
    const versions = readdirSync(VERSIONS).map(Number);
    const program = join(VERSIONS, `${Math.max(...versions)}`, 'bin', name);
    const account = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];
    await run({
      program: IS_ROOT ? 'setpriv' : program,
      args: IS_ROOT ? [...account, program, ...args] : args,
      cwd: this.#folder,
    });
  }
}
