import { DatabaseManager } from '@backstage/backend-defaults/database';
import type {
  DatabaseService,
  LifecycleService,
} from '@backstage/backend-plugin-api';
import { ConfigReader } from '@backstage/config';
import { RecordingLogger } from '@directory-gateway/backstage-plugin-directory-node/testUtils';

/** Nothing starts or ends here; a test closes its database by itself. */
const lifecycle: LifecycleService = {
  addStartupHook() {},
  addShutdownHook() {},
};

/** The plugin's database, new and in memory for each test of a block. */
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
