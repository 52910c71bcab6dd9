import {
  resolvePackagePath,
  type DatabaseService,
} from '@backstage/backend-plugin-api';
import { migrateDatabase } from '@directory-gateway/backstage-plugin-directory-node';

/**
 * The plugin's database, its own tables brought up to date first, unless the
 * site does that itself. May be called by each who needs it.
 */
export async function migrateDirectoryDatabase(
  service: DatabaseService,
): Promise<Awaited<ReturnType<DatabaseService['getClient']>>> {
  const database = await service.getClient();
  if (!service.migrations?.skip) {
    await migrateDatabase({
      database,
      directory: resolvePackagePath(
        '@directory-gateway/backstage-plugin-directory-backend',
        'migrations',
      ),
      tableName: 'directory_migrations',
    });
  }
  return database;
}
