import { createPortal } from '../../../dev/createPortal';

// A portal whose catalog and search have the users and groups of the directory.
const portal = createPortal();
portal.add(
  import('@directory-gateway/backstage-plugin-catalog-backend-module-directory'),
);
portal.add(import('@backstage/plugin-search-backend'));
portal.add(import('@backstage/plugin-search-backend-module-catalog'));
portal.add(
  import('@directory-gateway/backstage-plugin-search-backend-module-directory'),
);
portal.start();
