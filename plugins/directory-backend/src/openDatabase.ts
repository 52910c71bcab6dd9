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
 * Folders of migrations with their tables. Knex refuses to start if a completed
 * migration is missing, so 0.2.0 must not find later ones in its table.
 */
const MIGRATIONS = [
  { folder: 'migrations', tableName: migrationsTable },
  { folder: 'migrations/changes', tableName: 'directory_change_migrations' },
  {
    folder: 'migrations/certificates',
    tableName: 'directory_certificate_migrations',
  },
];

/**
 * Opens the plugin's database and migrates its tables, unless
 * `migrations.skip` is set.
 */
export async function openDatabase(
  service: DatabaseService,
): Promise<Database> {
  const database = await service.getClient();
  if (!service.migrations?.skip) {
    for (const { folder, tableName } of MIGRATIONS) {
      await migrateDatabase({
        database,
        directory: resolvePackagePath(
          '@directory-gateway/backstage-plugin-directory-backend',
          folder,
        ),
        tableName,
      });
    }
  }
  return database;
}
