import { createPortal } from '../../../dev/createPortal';

// A portal with Backstage's LDAP module in place of the module of the gateway.
const portal = createPortal();
portal.add(import('@backstage/plugin-catalog-backend-module-ldap'));
portal.start();
