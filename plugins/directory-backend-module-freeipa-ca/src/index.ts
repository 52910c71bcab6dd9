/**
 * Signs certificates of the directory gateway with FreeIPA's CA.
 *
 * @packageDocumentation
 */
import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import { directoryCertificateAuthoritiesExtensionPoint } from '@directory-gateway/backstage-plugin-directory-node';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { FreeIpaAuthority } from './FreeIpaAuthority';
import { readFreeIpaConfig } from './FreeIpaConfig';

/**
 * Registers the certificate authority `freeipa` when
 * `directory.certificates.freeipa` is configured.
 *
 * @public
 */
const directoryModuleFreeIpaCa = createBackendModule({
  pluginId: 'directory',
  moduleId: 'freeipa-ca',
  register(env) {
    env.registerInit({
      deps: {
        authorities: directoryCertificateAuthoritiesExtensionPoint,
        config: coreServices.rootConfig,
        logger: coreServices.logger,
      },
      async init({ authorities, logger, ...deps }) {
        const config = readFreeIpaConfig(deps.config);
        if (!config) {
          return;
        }
        const { file, fileKey } = config.login;
        if (file !== undefined) {
          await checkSecretFile(file, { key: fileKey });
        }
        const authority = new FreeIpaAuthority({ config, logger });
        authorities.addAuthority('freeipa', authority);
      },
    });
  },
});

export default directoryModuleFreeIpaCa;
