import {
  type LoggerService,
  type SchedulerService,
  coreServices,
  createBackendModule,
  resolvePackagePath,
} from '@backstage/backend-plugin-api';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  migrateDatabase as migrate,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readEmbeddedCaConfig } from './config';
import { createEmbeddedCa } from './createEmbeddedCa';
import type { CurrentAuthority } from './authority/CurrentAuthority';
import type { RevocationLists } from './revocation/RevocationLists';
import type { Knex } from 'knex';

/** Certificates carry this address: it must never change. */
const CRL_PATH = '/ca/crl';

/**
 * Registers the authority `embedded`, which signs with a key of its own, when
 * `directory.certificates.embedded` is configured.
 *
 * @public
 */
export const directoryModuleEmbeddedCa = createBackendModule({
  pluginId: 'directory',
  moduleId: 'embedded-ca',
  register(env) {
    env.registerInit({
      deps: {
        authorities: directoryCertificateAuthoritiesExtensionPoint,
        config: coreServices.rootConfig,
        database: coreServices.database,
        discovery: coreServices.discovery,
        logger: coreServices.logger,
        publicDocuments: directoryPublicDocumentsExtensionPoint,
        scheduler: coreServices.scheduler,
      },
      async init(deps) {
        const { logger } = deps;
        const config = readEmbeddedCaConfig(deps.config);
        if (!config) {
          return;
        }
        const database = await deps.database.getClient();
        if (!deps.database.migrations?.skip) {
          await migrateDatabase(database);
        }
        const baseUrl = await deps.discovery.getExternalBaseUrl('directory');
        const { authority, keeper, lists } = await createEmbeddedCa({
          config,
          database,
          logger,
          crlUrl: `${baseUrl}${CRL_PATH}`,
        });

        deps.authorities.addAuthority('embedded', authority);
        deps.publicDocuments.addPublicDocument({
          path: CRL_PATH,
          contentType: 'application/pkix-crl',
          read: () => lists.read(),
        });
        await scheduleMaintenance({
          keeper,
          lists,
          logger,
          scheduler: deps.scheduler,
        });
      },
    });
  },
});

/**
 * Has every node look each minute, and at once, whether its key has come and
 * whether the revocation list is due. Every node, because the one that a shared
 * task ran on might be the one without the key; who comes second finds nothing
 * to do.
 */
export async function scheduleMaintenance(options: {
  readonly keeper: CurrentAuthority;
  readonly lists: RevocationLists;
  readonly scheduler: SchedulerService;
  readonly logger: LoggerService;
}): Promise<void> {
  const { keeper, lists, scheduler, logger } = options;
  await scheduler.scheduleTask({
    id: 'embedded-ca-maintenance',
    scope: 'local',
    frequency: { minutes: 1 },
    timeout: { minutes: 1 },
    async fn() {
      try {
        await keeper.open();
        if (keeper.isOpen) {
          await lists.renew();
        }
      } catch (error) {
        // The scheduler keeps quiet about what a local task throws.
        logger.error(`The revocation list was not renewed: ${error}`);
      }
    },
  });
}

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
