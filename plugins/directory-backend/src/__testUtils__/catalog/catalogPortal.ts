import { createPortal } from '../../../dev/createPortal';

// The plugin and the catalog with the users and groups of the directory.
const portal = createPortal();
portal.add(
  import(
    '@directory-gateway/backstage-plugin-catalog-backend-module-directory'
  ),
);
portal.start();
