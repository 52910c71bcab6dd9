import createKnex, { type Knex } from 'knex';
import type { PostgresServer } from '@directory-gateway/realm';

/** A real database of a test, without tables. */
export interface TestDatabase {
  readonly knex: Knex;
  /** What Knex needs for a connection from another process. */
  readonly config: Knex.Config;
  /** Takes the database away until the returned function is called. */
  interrupt(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** What starts a database, and where: a name for the titles of tests. */
export interface TestDatabaseKind {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** @param folder - a private one, which the caller removes */
  start(folder: string): Promise<TestDatabase>;
}

/** A file, not `:memory:`: only a file is a database for several processes. */
export const sqlite: TestDatabaseKind = {
  name: 'SQLite',
  async start(folder) {
    const config = {
      client: 'better-sqlite3',
      connection: { filename: `${folder}/records.sqlite` },
      useNullAsDefault: true,
    };
    const knex = createKnex(config);
    return {
      knex,
      config,
      async interrupt() {
        await knex.destroy();
        return async () => knex.initialize();
      },
      stop: async () => knex.destroy(),
    };
  },
};

/** A new database on a server. */
export async function openPostgres(
  server: PostgresServer,
): Promise<TestDatabase> {
  const name = await server.createDatabase();
  const knex = server.connect(name);
  return {
    knex,
    config: { client: 'pg', connection: server.connection(name) },
    async interrupt() {
      await server.interrupt();
      return async () => server.resume();
    },
    stop: async () => knex.destroy(),
  };
}
