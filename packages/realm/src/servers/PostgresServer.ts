import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import createKnex, { type Knex } from 'knex';
import type { ChildProcess } from 'node:child_process';
import {
  exitOf,
  findAccount,
  findProgram,
  ProcessOwner,
  type Account,
} from '../processes/ProcessOwner';

/** A PostgreSQL server that listens on a socket in its private folder. */
export class PostgresServer {
  readonly #folder: string;
  readonly #account: Account;
  readonly #owner = new ProcessOwner();
  #process: ChildProcess | undefined;

  private constructor(folder: string, account: Account) {
    this.#folder = folder;
    this.#account = account;
  }

  /** @throws Error when Debian's `postgresql` is missing or fails */
  static async start(): Promise<PostgresServer> {
    // PostgreSQL does not run as root.
    const account = await findAccount(['postgres']);
    const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
    await chown(folder, account.uid, account.gid);
    const server = new PostgresServer(folder, account);
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
    const admin = this.connect('postgres');
    try {
      await admin.raw(`create database ${name}`);
    } finally {
      await admin.destroy();
    }
    return name;
  }

  /** Returns the connection to a database for Knex. */
  connection(database: string) {
    return { host: this.#folder, user: 'postgres', database };
  }

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
    const server = this.#owner.start({
      // The kernel stops it when this process exits (prctl(2)).
      program: 'setpriv',
      args: [
        ...['--pdeathsig=QUIT', program('postgres')],
        ...['-D', join(this.#folder, 'data'), '-k', this.#folder],
        ...['-c', 'listen_addresses='],
      ],
      account: this.#account,
      cwd: this.#folder,
    });
    server.stderr?.resume();
    this.#process = server;
    for (let attempt = 0; !(await this.#isReady()); attempt++) {
      if (server.exitCode !== null || attempt > 2000) {
        throw new Error('PostgreSQL did not start');
      }
      await sleep(50);
    }
  }

  /** Stops the server as a crash would; keeps its folder. */
  async interrupt(): Promise<void> {
    if (this.#process) {
      this.#process.kill('SIGQUIT');
      await exitOf(this.#process);
    }
  }

  async stop(): Promise<void> {
    await this.interrupt();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #isReady(): Promise<boolean> {
    try {
      await this.#run('pg_isready', ['-h', this.#folder, '-q']);
      return true;
    } catch {
      return false;
    }
  }

  async #run(name: string, args: readonly string[]): Promise<void> {
    await this.#owner.run({
      program: program(name),
      args,
      account: this.#account,
      cwd: this.#folder,
    });
  }
}

/** Finds a program: Debian installs those of each version outside the PATH. */
function program(name: string): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((a, b) => Number(b) - Number(a))
    : [];
  const found =
    versions
      .map(version => join(debian, version, 'bin', name))
      .find(path => existsSync(path)) ?? findProgram(name);
  if (!found) {
    throw new Error(
      `Missing ${name}: install with "apt-get install postgresql"`,
    );
  }
  return found;
}
