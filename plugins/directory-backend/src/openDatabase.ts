import {
  resolvePackagePath,
  type DatabaseService,
} from '@backstage/backend-plugin-api';
import {
  type Database,
  migrateDatabase,
} from '@directory-gateway/backstage-plugin-directory-node';

/** Table of completed migrations. */
export const migrationsTable = 'directory_migrations';

/**
 * Opens the plugin's database and migrates its tables, unless
 * `migrations.skip` is set.
 */
export async function openDatabase(
  service: DatabaseService,
): Promise<Database> {
  const database = await service.getClient();
  if (!service.migrations?.skip) {
    await migrateDatabase({
      database,
      directory: resolvePackagePath(
        '@directory-gateway/backstage-plugin-directory-backend',
        'migrations',
      ),
      tableName: migrationsTable,
    });
  }
  return database;
}
