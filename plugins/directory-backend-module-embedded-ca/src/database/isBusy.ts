import { isError } from '@backstage/errors';

/**
 * Whether another process was writing to the database: SQLite's own word for
 * it, or Knex's, which takes it for a held lock.
 */
export function isBusy(error: unknown): boolean {
  return (
    isError(error) &&
    (String(error.code).startsWith('SQLITE_BUSY') ||
      error.name === 'MigrationLocked')
  );
}
