import { type Config, ConfigReader } from '@backstage/config';
import { isError } from '@backstage/errors';
import {
  type Database,
  type DoctorFinding,
  finding,
  silentLogger,
} from '@directory-gateway/backstage-plugin-directory-node';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDS } from '../certificates/records/certificateRows';
import type { Portal } from './Portal';
import { codeOf } from './runChecks';

/** Checks the database of the plugin. */
export async function checkDatabase(portal: Portal): Promise<DoctorFinding> {
  if (sqliteFileOf(portal.config) === ':memory:') {
    return finding.warn(
      'The database is in memory: certificates, revocations and the mass-deletion guard are lost on restart',
      'set backend.database to PostgreSQL (client: pg), see app-config.production.yaml',
    );
  }
  try {
    const database = await openDatabase(portal);
    const renewed = await (database && listRenewedByKey(database));
    return renewed?.length
      ? finding.warn(
          `Certificates whose machines renew by proof of the key, which is no longer possible: ${renewed.join(', ')}`,
          'set up a robot account for each of these machines: docs/renew-without-a-person.md',
        )
      : finding.ok(
          database
            ? 'The database responds'
            : 'The backend creates the database when it starts',
        );
  } catch (error) {
    // The message of a server or driver may contain secrets.
    return finding.fail(
      `The database cannot be used (${codeOf(error)})`,
      'correct backend.database, or start PostgreSQL: 28P01 is a wrong password, 42501 a missing right',
    );
  }
}

/** Lists serial numbers of certificates that 0.2.0 renewed by their key. */
async function listRenewedByKey(database: Database): Promise<string[]> {
  if (!(await database.schema.hasTable(RECORDS))) {
    return [];
  }
  return await database(RECORDS)
    .where({ is_renewed_by_key: true })
    .whereIn('state', ['valid', 'held'])
    .where('not_after', '>', new Date())
    .whereNotIn(
      'serial_number',
      database(RECORDS).whereNotNull('renewed_from').select('renewed_from'),
    )
    .orderBy('not_after')
    .pluck('serial_number');
}

/**
 * Connects to the database of the plugin `directory`, without creating it.
 *
 * @returns `undefined` when it does not exist
 * @throws Error when the database cannot be reached.
 */
async function openDatabase({
  backend,
  config,
}: Portal): Promise<Database | undefined> {
  const file = sqliteFileOf(config);
  // SQLite would create a missing file.
  if (file !== undefined && !existsSync(file)) {
    return undefined;
  }
  const { DatabaseManager } = backend.require(
    '@backstage/backend-defaults/database',
  ) as typeof import('@backstage/backend-defaults/database');
  const never = { ensureExists: false };
  const data = {
    backend: { database: { ...never, plugin: { directory: never } } },
  };
  const manager = DatabaseManager.fromConfig(
    ConfigReader.fromConfigs([
      { context: 'portal', data: config.get() },
      { context: 'doctor', data },
    ]),
  );
  const database = await manager
    .forPlugin('directory', {
      logger: silentLogger,
      lifecycle: { addStartupHook() {}, addShutdownHook() {} },
    })
    .getClient();
  try {
    await database.raw('select 1');
    return database;
  } catch (error) {
    // invalid_catalog_name: the backend creates it when it starts.
    if (isError(error) && error.code === '3D000') {
      return undefined;
    }
    throw error;
  }
}

/**
 * Returns the path of the plugin's SQLite database, or `:memory:`; `undefined`
 * with another client.
 */
function sqliteFileOf(config: Config): string | undefined {
  const read = (key: string) =>
    config.getOptional(`backend.database.plugin.directory.${key}`) ??
    config.getOptional(`backend.database.${key}`);
  if (!String(read('client')).includes('sqlite')) {
    return undefined;
  }
  const connection = read('connection') ?? ':memory:';
  if (typeof connection === 'string') {
    return connection;
  }
  const { filename, directory } = connection as Record<string, string>;
  return (
    filename ?? (directory ? join(directory, 'directory.sqlite') : ':memory:')
  );
}
