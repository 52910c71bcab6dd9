import type { DatabaseService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Knex client of the plugin's database.
 *
 * @public
 */
export type Database = Awaited<ReturnType<DatabaseService['getClient']>>;

/**
 * Key of the PostgreSQL advisory lock: arbitrary, but the same in every
 * process.
 */
const ADVISORY_LOCK = 0x63_61_31;

const ATTEMPTS = 50;

/**
 * Runs Knex migrations in one transaction. If several processes start at the
 * same time, one of them does the work. A killed process leaves nothing behind,
 * not even Knex's lock.
 *
 * @param options - `directory`: directory of the migrations; `tableName`: table
 *   of completed migrations, unique to the caller because the directory plugin
 *   and its modules share a database. Knex adds a second table with the suffix
 *   `_lock`.
 * @public
 */
export async function migrateDatabase(options: {
  readonly database: Database;
  readonly directory: string;
  readonly tableName: string;
}): Promise<void> {
  const { database, directory, tableName } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      await database.transaction(async transaction => {
        if (transaction.client.config.client === 'pg') {
          await transaction.raw('select pg_advisory_xact_lock(?)', [
            ADVISORY_LOCK,
          ]);
        }
        await transaction.migrate.latest({ directory, tableName });
      });
      return;
    } catch (error) {
      // SQLite fails instead of waiting when a transaction that has read starts
      // to write. Knex's lock is never held longer than a transaction.
      if (!isBusy(error) || attempt === ATTEMPTS) {
        throw error;
      }
      await sleep(20 + Math.random() * 80);
    }
  }
}

/**
 * Whether another process was writing to the database. SQLite reports this
 * error, which Knex interprets as a held lock.
 */
function isBusy(error: unknown): boolean {
  return (
    isError(error) &&
    (String(error.code).startsWith('SQLITE_BUSY') ||
      error.name === 'MigrationLocked')
  );
}
