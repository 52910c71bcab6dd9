import createKnex, { type Knex } from 'knex';
import type { PostgresServer } from '@directory-gateway/realm';

/** A real, empty database. */
export interface TestDatabase {
  readonly knex: Knex;
  /** Knex configuration for other processes. */
  readonly config: Knex.Config;
  /** Stops the database until the returned function is called. */
  interrupt(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/** A type of database. */
export interface TestDatabaseKind {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** @param folder - an empty folder, which the caller removes */
  start(folder: string): Promise<TestDatabase>;
}

/** SQLite in a file, which several processes can open. */
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

/** Creates a database on a PostgreSQL server. */
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
