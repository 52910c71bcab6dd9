import { isError } from '@backstage/errors';

/** Whether SQLite could not have the file because another process writes to it. */
export function isBusy(error: unknown): boolean {
  return isError(error) && String(error.code).startsWith('SQLITE_BUSY');
}
