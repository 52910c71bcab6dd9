import { createPortal } from '../../../dev/createPortal';

// A portal whose catalog has the users and groups of the directory.
const portal = createPortal();
portal.add(
  import(
    '@directory-gateway/backstage-plugin-catalog-backend-module-directory'
  ),
);
portal.start();
