import { createApiBackend, start } from './createApiBackend';

const backend = createApiBackend();

backend.add(import('@backstage/plugin-app-backend'));
backend.add(import('@backstage/plugin-auth-backend'));
backend.add(import('@backstage/plugin-auth-backend-module-guest-provider'));
backend.add(
  import('@directory-gateway/backstage-plugin-auth-backend-module-kerberos-provider'),
);
backend.add(import('@backstage/plugin-catalog-backend'));
backend.add(
  import('@directory-gateway/backstage-plugin-catalog-backend-module-directory'),
);
backend.add(import('@backstage/plugin-notifications-backend'));
backend.add(import('@backstage/plugin-permission-backend'));
backend.add(
  import('@directory-gateway/backstage-plugin-permission-backend-module-directory'),
);
backend.add(import('@backstage/plugin-search-backend'));
backend.add(import('@backstage/plugin-search-backend-module-catalog'));
backend.add(import('@backstage/plugin-search-backend-module-pg'));
backend.add(
  import('@directory-gateway/backstage-plugin-search-backend-module-directory'),
);
backend.add(import('@backstage/plugin-user-settings-backend'));

start(backend);
