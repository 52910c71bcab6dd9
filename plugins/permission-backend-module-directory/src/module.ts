import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import { policyExtensionPoint } from '@backstage/plugin-permission-node/alpha';
import { DirectoryPermissionPolicy } from './DirectoryPermissionPolicy';

/**
 * Sets the permission policy of the portal: it allows only known permissions,
 * reads administrators from `permission.directory`, and denies everything to
 * guests.
 *
 * @public
 */
export const permissionModuleDirectory = createBackendModule({
  pluginId: 'permission',
  moduleId: 'directory',
  register(env) {
    env.registerInit({
      deps: {
        config: coreServices.rootConfig,
        policy: policyExtensionPoint,
      },
      async init({ config, policy }) {
        policy.setPolicy(DirectoryPermissionPolicy.fromConfig(config));
      },
    });
  },
});
