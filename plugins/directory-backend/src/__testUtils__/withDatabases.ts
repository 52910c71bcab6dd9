import type { Database } from '@directory-gateway/backstage-plugin-directory-node';
import { PostgresServer } from '@directory-gateway/realm';
import { withDatabase } from './withDatabase';

/** Runs a test with a new database. */
export type WithDatabase = (
  test: (database: Database) => Promise<void>,
) => Promise<void>;

/** Provides new databases of both kinds to tests, by name, for `it.each`. */
export function withDatabases(): readonly [name: string, WithDatabase][] {
  const sqlite = withDatabase();
  let postgres: PostgresServer;

  beforeAll(async () => {
    postgres = await PostgresServer.start();
  });

  afterAll(async () => {
    await postgres?.stop();
  });

  return [
    ['SQLite', async test => test(await sqlite.getClient())],
    [
      'PostgreSQL',
      async test => {
        const database = postgres.connect(await postgres.createDatabase());
        try {
          await test(database);
        } finally {
          await database.destroy();
        }
      },
    ],
  ];
}
