import { resolvePackagePath } from '@backstage/backend-plugin-api';
import { migrateDatabase as migrate } from '@directory-gateway/backstage-plugin-directory-node';
import type { Knex } from 'knex';

const FOLDER = resolvePackagePath(
  '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca',
  'migrations',
);

/** Brings the module's tables up to date, whoever else does so now. */
export async function migrateDatabase(database: Knex): Promise<void> {
  await migrate({
    database,
    directory: FOLDER,
    tableName: 'embedded_ca_migrations',
  });
}
