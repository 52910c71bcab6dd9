import {
  coreServices,
  createBackendModule,
  createExtensionPoint,
  type DatabaseService,
} from '@backstage/backend-plugin-api';
import { DEFAULT_NAMESPACE } from '@backstage/catalog-model';
import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  catalogProcessingExtensionPoint,
  catalogServiceRef,
} from '@backstage/plugin-catalog-node';
import { eventsServiceRef } from '@backstage/plugin-events-node';
import { setImmediate } from 'node:timers/promises';
import { DirectoryEntityProvider, RUN_MS } from './DirectoryEntityProvider';
import { DirectoryReader } from './DirectoryReader';
import type { DirectoryTransforms } from './entities';

const PREFIX = 'catalog.providers.directory';

/**
 * Sets the functions that filter and change the entities of users and groups.
 *
 * @public
 */
export const directoryTransformsExtensionPoint = createExtensionPoint<{
  /** Sets the functions. Replaces those set before. */
  setTransforms(transforms: DirectoryTransforms): void;
}>({ id: 'catalog.directory.transforms' });

/**
 * Provides the users and groups of the directory gateway as entities. The
 * `directory` plugin can run in the same backend or in another one.
 *
 * @public
 */
export const catalogModuleDirectory = createBackendModule({
  pluginId: 'catalog',
  moduleId: 'directory',
  register(env) {
    let transforms: DirectoryTransforms = {};
    env.registerExtensionPoint(directoryTransformsExtensionPoint, {
      setTransforms(set) {
        transforms = set;
      },
    });
    env.registerInit({
      deps: {
        auth: coreServices.auth,
        catalog: catalogServiceRef,
        config: coreServices.rootConfig,
        database: coreServices.database,
        discovery: coreServices.discovery,
        events: eventsServiceRef,
        logger: coreServices.logger,
        processing: catalogProcessingExtensionPoint,
        rootLifecycle: coreServices.rootLifecycle,
        scheduler: coreServices.scheduler,
      },
      async init(deps) {
        const config = readProviderConfig(deps.config);
        const provider = new DirectoryEntityProvider({
          ...deps,
          ...config,
          transforms,
          reader: new DirectoryReader({ ...deps, ...config }),
        });
        deps.processing.addEntityProvider(provider);
        deps.rootLifecycle.addBeforeShutdownHook(() =>
          stopProvider(provider, deps.database),
        );
        // At startup, the catalog deletes the entities of providers that are no
        // longer installed. Before that, it refuses entities with the same
        // references.
        deps.rootLifecycle.addStartupHook(() =>
          deps.scheduler.scheduleTask({
            id: 'directory-entities',
            frequency: { seconds: 1 },
            // After a crash, another process takes over after this time.
            timeout: { milliseconds: RUN_MS + 30_000 },
            fn: signal => provider.run(signal),
          }),
        );
      },
    });
  },
});

/**
 * Stops a provider. The scheduler records the end of a run in the catalog's
 * database; if that is closed first, no process runs until the timeout.
 */
export async function stopProvider(
  provider: Pick<DirectoryEntityProvider, 'stop'>,
  database: DatabaseService,
): Promise<void> {
  await provider.stop();
  await setImmediate();
  // Connections are assigned in the order of the queries, so that after this
  // query the scheduler's has one, too.
  await (await database.getClient()).raw('select 1');
}

/**
 * Reads `catalog.providers.directory`.
 *
 * @throws InputError that names the invalid key
 */
export function readProviderConfig(root: Config) {
  const config = root.getOptionalConfig(PREFIX);
  const readNumber = (key: string, fallback: number) => {
    const value = config?.getOptionalNumber(key) ?? fallback;
    if (!(value >= 0)) {
      throw new InputError(`${PREFIX}.${key} must not be negative`);
    }
    return value;
  };
  return {
    appUrl: root.getString('app.baseUrl').replace(/\/+$/, ''),
    namespace: config?.getOptionalString('namespace') ?? DEFAULT_NAMESPACE,
    maxMembers: readNumber('maxMembers', 1000),
    rejectRemovalsAbovePercentage: readNumber(
      'rejectRemovalsAbovePercentage',
      5,
    ),
  };
}
