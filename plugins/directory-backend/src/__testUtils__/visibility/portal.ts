import { createBackendModule } from '@backstage/backend-plugin-api';
import { AuthorizeResult } from '@backstage/plugin-permission-common';
import { policyExtensionPoint } from '@backstage/plugin-permission-node/alpha';
import { createPortal } from '../../../dev/createPortal';
import { showOwnGroups } from './showOwnGroups';

// A portal with the sample policy of docs/privacy.md.
const portal = createPortal();
portal.add(import('@backstage/plugin-permission-backend'));
portal.add(
  createBackendModule({
    pluginId: 'permission',
    moduleId: 'own-groups',
    register(env) {
      env.registerInit({
        deps: { policy: policyExtensionPoint },
        async init({ policy }) {
          policy.setPolicy({
            handle: async (query, user) =>
              (user && showOwnGroups(query, user)) ?? {
                result: AuthorizeResult.ALLOW,
              },
          });
        },
      });
    },
  }),
);
portal.start();
