import type { DatabaseService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import { setTimeout as sleep } from 'node:timers/promises';

/** Knex, as Backstage hands it out. */
type Database = Awaited<ReturnType<DatabaseService['getClient']>>;

/** Any number will do that is the same in every process. */
const ADVISORY_LOCK = 0x63_61_31;

const ATTEMPTS = 50;

/**
 * Brings tables up to date. All of it is one transaction: of processes that
 * start at once one does the work, and one that is killed leaves nothing
 * behind, not even Knex's own lock.
 *
 * @param options - `directory` has the migrations, in Knex's form; `tableName`
 * is where those that have run are noted. It is one of the caller's own,
 * because the directory plugin and its modules share one database; Knex adds
 * `_lock` for its other table.
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
      // SQLite does not wait when a transaction that has read wants to write.
      // Nobody holds Knex's lock for longer than a transaction.
      if (!isBusy(error) || attempt === ATTEMPTS) {
        throw error;
      }
      await sleep(20 + Math.random() * 80);
    }
  }
}

/**
 * Whether another process was writing to the database: SQLite's own word for
 * it, or Knex's, which takes it for a held lock.
 */
function isBusy(error: unknown): boolean {
  return (
    isError(error) &&
    (String(error.code).startsWith('SQLITE_BUSY') ||
      error.name === 'MigrationLocked')
  );
}
