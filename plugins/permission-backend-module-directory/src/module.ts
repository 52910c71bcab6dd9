import {
  coreServices,
  createBackendModule,
} from '@backstage/backend-plugin-api';
import { policyExtensionPoint } from '@backstage/plugin-permission-node/alpha';
import { DirectoryPermissionPolicy } from './DirectoryPermissionPolicy';

/**
 * Sets the portal's permission policy: known permissions only, administrators
 * from `permission.directory`, nothing for guests.
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
