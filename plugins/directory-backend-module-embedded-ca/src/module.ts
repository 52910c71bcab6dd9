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

/** Path of the CRL. It must not change: certificates contain the URL. */
const CRL_PATH = '/ca/crl';

/**
 * Registers the certificate authority `embedded`, which signs with its own key,
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
        logger: coreServices.logger,
        publicDocuments: directoryPublicDocumentsExtensionPoint,
        scheduler: coreServices.scheduler,
      },
      async init({ authorities, logger, publicDocuments, scheduler, ...deps }) {
        const config = readEmbeddedCaConfig(deps.config);
        if (!config) {
          return;
        }
        const database = await deps.database.getClient();
        if (!deps.database.migrations?.skip) {
          await migrateDatabase(database);
        }
        const baseUrl = await deps.discovery.getExternalBaseUrl('directory');
        const { authority, currentAuthority, lists } = await createEmbeddedCa({
          config,
          database,
          logger,
          crlUrl: `${baseUrl}${CRL_PATH}`,
        });

        authorities.addAuthority('embedded', authority);
        publicDocuments.addPublicDocument({
          path: CRL_PATH,
          contentType: 'application/pkix-crl',
          read: () => lists.read(),
        });
        // On every instance, because the one that runs a global task may be the
        // one without the key.
        await scheduler.scheduleTask({
          id: 'embedded-ca-maintenance',
          scope: 'local',
          frequency: { minutes: 1 },
          timeout: { minutes: 1 },
          async fn() {
            try {
              await currentAuthority.open();
              if (currentAuthority.isOpen) {
                await lists.renew();
              }
            } catch (error) {
              // The scheduler does not log errors of local tasks.
              logger.error(`The CRL was not renewed: ${error}`);
            }
          },
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
