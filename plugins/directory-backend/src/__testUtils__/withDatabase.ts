import { DatabaseManager } from '@backstage/backend-defaults/database';
import type {
  DatabaseService,
  LifecycleService,
} from '@backstage/backend-plugin-api';
import { ConfigReader } from '@backstage/config';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/** Ignores hooks: tests close their databases. */
const lifecycle: LifecycleService = {
  addStartupHook() {},
  addShutdownHook() {},
};

/** Provides a new in-memory database of the plugin to each test. */
export function withDatabase(): DatabaseService {
  let database: DatabaseService;

  beforeEach(() => {
    const manager = DatabaseManager.fromConfig(
      new ConfigReader({
        backend: {
          database: { client: 'better-sqlite3', connection: ':memory:' },
        },
      }),
    );
    const logger = new RecordingLogger();
    database = manager.forPlugin('directory', { lifecycle, logger });
  });

  afterEach(async () => {
    await (await database.getClient()).destroy();
  });

  return { getClient: () => database.getClient() };
}
