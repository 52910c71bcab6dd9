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
export const directoryModuleFreeIpaCa = createBackendModule({
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
        const { login } = config;
        const [key, path] =
          login.kind === 'password'
            ? ['passwordFile', login.passwordFile]
            : ['keytab', login.keytab];
        if (path !== undefined) {
          await checkSecretFile(path, {
            key: `directory.certificates.freeipa.login.${key}`,
          });
        }
        authorities.addAuthority(
          'freeipa',
          FreeIpaAuthority.create({ config, logger }),
        );
      },
    });
  },
});
