import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import { directoryCertificateAuthoritiesExtensionPoint } from '@directory-gateway/backstage-plugin-directory-node';
import { checkSecretFile } from '@directory-gateway/secret-files';
import { StepCaAuthority } from './StepCaAuthority';
import { readStepCaConfig } from './StepCaConfig';

/**
 * Registers the certificate authority `step-ca` when
 * `directory.certificates.stepCa` is configured.
 *
 * @public
 */
export const directoryModuleStepCa = createBackendModule({
  pluginId: 'directory',
  moduleId: 'step-ca',
  register(env) {
    env.registerInit({
      deps: {
        authorities: directoryCertificateAuthoritiesExtensionPoint,
        config: coreServices.rootConfig,
        logger: coreServices.logger,
      },
      async init({ authorities, logger, ...deps }) {
        const config = readStepCaConfig(deps.config);
        if (!config) {
          return;
        }
        await checkSecretFile(config.provisionerKeyFile, {
          key: 'directory.certificates.stepCa.provisionerKeyFile',
        });
        const authority = new StepCaAuthority({ config, logger });
        await authority.start();
        authorities.addAuthority('step-ca', authority);
      },
    });
  },
});
