import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import createKnex, { type Knex } from 'knex';

const run = promisify(execFile);

/** PostgreSQL refuses root; as root, Debian's account for it is used. */
interface Account {
  readonly name: string;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * A PostgreSQL server of Debian's package, in a folder of its own, reached by a
 * socket in that folder only.
 */
export class PostgresServer {
  readonly #folder: string;
  readonly #account: Account;
  #process: ChildProcess | undefined;

  static async start(): Promise<PostgresServer> {
    const account = await findAccount();
    const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
    if (account.uid !== undefined && account.gid !== undefined) {
      await chown(folder, account.uid, account.gid);
    }
    await run(
      program('initdb'),
      [
        '--pgdata',
        join(folder, 'data'),
        '--auth=trust',
        '--username=postgres',
        '--encoding=UTF8',
        '--locale=C.UTF-8',
        '--no-sync',
      ],
      { uid: account.uid, gid: account.gid, cwd: folder },
    );
    const server = new PostgresServer(folder, account);
    await server.resume();
    return server;
  }

  private constructor(folder: string, account: Account) {
    this.#folder = folder;
    this.#account = account;
  }

  /** Makes a new, empty database. */
  async createDatabase(): Promise<string> {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    const admin = this.connect('postgres');
    try {
      await admin.raw(`create database ${name}`);
    } finally {
      await admin.destroy();
    }
    return name;
  }

  /** Where a database is, for Knex. */
  connection(database: string) {
    return { host: this.#folder, user: 'postgres', database };
  }

  connect(database: string): Knex {
    return createKnex({
      client: 'pg',
      connection: this.connection(database),
      acquireConnectionTimeout: 10_000,
      // It writes of every lost connection, and losing them is what is tested.
      log: { warn() {}, error() {} },
    });
  }

  /** Starts the server again, and waits until it answers. */
  async resume(): Promise<void> {
    const { uid, gid } = this.#account;
    this.#process = spawn(
      'setpriv',
      [
        // It ends with the tests, however they end (prctl(2)).
        '--pdeathsig=QUIT',
        program('postgres'),
        '-D',
        join(this.#folder, 'data'),
        '-k',
        this.#folder,
        '-c',
        'listen_addresses=',
      ],
      { uid, gid, cwd: this.#folder, stdio: 'ignore' },
    );
    for (let attempt = 0; !(await this.#answers()); attempt++) {
      if (this.#process.exitCode !== null || attempt > 200) {
        throw new Error('PostgreSQL did not start');
      }
      await sleep(50);
    }
  }

  /** Ends the server as a crash of its machine would, but for its folder. */
  async interrupt(): Promise<void> {
    const server = this.#process;
    if (server && server.exitCode === null && server.signalCode === null) {
      const gone = once(server, 'exit');
      server.kill('SIGQUIT');
      await gone;
    }
  }

  async stop(): Promise<void> {
    await this.interrupt();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    try {
      await run(program('pg_isready'), ['-h', this.#folder, '-q']);
      return true;
    } catch {
      return false; // it exits with 1 or 2 until the server answers
    }
  }
}

async function findAccount(): Promise<Account> {
  if (userInfo().uid !== 0) {
    return { name: userInfo().username };
  }
  const name = 'postgres';
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async what => {
      const { stdout } = await run('id', [what, name]);
      return Number(stdout);
    }),
  );
  return { name, uid, gid };
}

/** Debian keeps the programs of each version in a folder outside of the PATH. */
function program(name: string): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...versions.map(version => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders
    .map(folder => join(folder, name))
    .find(path => existsSync(path));
  if (!found) {
    throw new Error(`Missing ${name}: "apt-get install postgresql"`);
  }
  return found;
}
