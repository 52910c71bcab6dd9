import { setTimeout as sleep } from 'node:timers/promises';
import { resolvePackagePath } from '@backstage/backend-plugin-api';
import type { Knex } from 'knex';
import { isBusy } from './isBusy';

const FOLDER = resolvePackagePath(
  '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca',
  'migrations',
);

/**
 * Of its own, because the database is the plugin's and its other modules keep
 * records there, too. Knex adds `_lock` for its other table.
 */
const TABLE = 'embedded_ca_migrations';

/** Any number will do that is the same in every process. */
const ADVISORY_LOCK = 0x63_61_31;

const ATTEMPTS = 50;

/**
 * Brings the tables up to date. All of it is one transaction: of processes that
 * start at once one does the work, and one that is killed leaves nothing
 * behind, not even Knex's own lock.
 */
export async function migrateDatabase(database: Knex): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await database.transaction(migrate);
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

async function migrate(transaction: Knex.Transaction): Promise<void> {
  if (transaction.client.config.client === 'pg') {
    await transaction.raw('select pg_advisory_xact_lock(?)', [ADVISORY_LOCK]);
  }
  await transaction.migrate.latest({ directory: FOLDER, tableName: TABLE });
}
