import { createPortal } from '../../../dev/createPortal';

// A portal with Backstage's LDAP module instead of the gateway's module.
const portal = createPortal();
portal.add(import('@backstage/plugin-catalog-backend-module-ldap'));
portal.start();
