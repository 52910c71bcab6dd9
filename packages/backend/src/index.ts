// First: refuses an unsupported version of Node.js.
import directoryPlugin from '@directory-gateway/backstage-plugin-directory-backend';
import { createBackend } from '@backstage/backend-defaults';
import {
  rootHealth,
  rootHttpRouter,
} from '@directory-gateway/root-http-router';

const backend = createBackend();

backend.add(rootHttpRouter);
backend.add(rootHealth);

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
backend.add(directoryPlugin);
backend.add(
  import('@directory-gateway/backstage-plugin-directory-backend-module-embedded-ca'),
);
backend.add(
  import('@directory-gateway/backstage-plugin-directory-backend-module-freeipa-ca'),
);
backend.add(
  import('@directory-gateway/backstage-plugin-directory-backend-module-step-ca'),
);

// Otherwise, Backstage logs the error, and the process is never ready.
backend.start().catch(error => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
