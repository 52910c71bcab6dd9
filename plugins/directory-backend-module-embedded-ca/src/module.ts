import {
  coreServices,
  createBackendModule,
  resolvePackagePath,
} from '@backstage/backend-plugin-api';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
  migrateDatabase as migrate,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { Knex } from 'knex';
import { readEmbeddedCaConfig } from './config';
import { createEmbeddedCa } from './createEmbeddedCa';
import { publishIssuers } from './publishIssuers';

/**
 * Registers the certificate authority `embedded`, which signs with its own keys,
 * when `directory.certificates.embedded` is configured.
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
        lifecycle: coreServices.lifecycle,
        logger: coreServices.logger,
        publicDocuments: directoryPublicDocumentsExtensionPoint,
        scheduler: coreServices.scheduler,
      },
      async init({
        authorities,
        lifecycle,
        logger,
        publicDocuments,
        scheduler,
        ...deps
      }) {
        const config = readEmbeddedCaConfig(deps.config);
        if (!config) {
          return;
        }
        const database = await deps.database.getClient();
        if (!deps.database.migrations?.skip) {
          await migrateDatabase(database);
        }
        const { authority, issuers, lists, maintain } = await createEmbeddedCa({
          config,
          database,
          publicUrl: await deps.discovery.getExternalBaseUrl('directory'),
          logger,
        });
        lifecycle.addShutdownHook(() => issuers.close());

        authorities.addAuthority('embedded', authority);
        await publishIssuers({
          publicDocuments,
          issuers,
          lists,
          roots: config.roots,
        });
        const runMaintenance = async () => {
          try {
            await maintain();
          } catch (error) {
            // The scheduler does not log errors of local tasks.
            logger.error(`Maintenance of the embedded CA failed: ${error}`);
          }
        };
        // Runs before the first request, which must find certificates in the
        // log.
        await runMaintenance();
        // Runs on every instance, because the instance that runs a global task
        // may not have the signer.
        await scheduler.scheduleTask({
          id: 'embedded-ca-maintenance',
          scope: 'local',
          frequency: { minutes: 1 },
          initialDelay: { minutes: 1 },
          timeout: { minutes: 1 },
          fn: runMaintenance,
        });
      },
    });
  },
});

/** Runs the migrations of the module's tables. */
export async function migrateDatabase(database: Knex): Promise<void> {
  await migrate({
    database,
    directory: resolvePackagePath(
      '@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca',
      'migrations',
    ),
    tableName: 'embedded_ca_migrations',
  });
}
