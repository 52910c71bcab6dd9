import { createBackend } from '@backstage/backend-defaults';
import { rootHttpRouterServiceFactory } from '@backstage/backend-defaults/rootHttpRouter';
import { raiseHeaderLimit } from '@directory-gateway/kerberos';

/** Creates a portal with this plugin and the plugins that it requires. */
export function createPortal(): ReturnType<typeof createBackend> {
  const backend = createBackend();

  backend.add(
    rootHttpRouterServiceFactory({
      configure({ server, applyDefaults }) {
        raiseHeaderLimit(server);
        applyDefaults();
      },
    }),
  );
  backend.add(import('@backstage/plugin-auth-backend'));
  backend.add(import('@backstage/plugin-auth-backend-module-guest-provider'));
  backend.add(
    import('@directory-gateway/backstage-plugin-auth-backend-module-kerberos-provider'),
  );
  backend.add(import('@backstage/plugin-catalog-backend'));
  backend.add(import('../src'));
  backend.add(
    import('@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca'),
  );

  return backend;
}
