import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import {
  directoryCertificateAuthoritiesExtensionPoint,
  directoryPublicDocumentsExtensionPoint,
} from '@directory-gateway/backstage-plugin-directory-node';
import { readEmbeddedCaConfig } from './config';
import { createEmbeddedCa } from './createEmbeddedCa';
import { migrateDatabase } from './migrateDatabase';
import { scheduleUpkeep } from './scheduleUpkeep';

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
        await scheduleUpkeep({
          keeper,
          lists,
          logger,
          scheduler: deps.scheduler,
        });
      },
    });
  },
});
