import {
  createExternalRouteRef,
  createRouteRef,
  createSubRouteRef,
} from '@backstage/frontend-plugin-api';

/** `/directory/people`: searches and lists users. */
export const peopleRouteRef = createRouteRef();

/** `/directory/people/{username}`: one user. */
export const personRouteRef = createSubRouteRef({
  parent: peopleRouteRef,
  path: '/:username',
});

/** `/directory/groups`: searches and lists groups. */
export const groupsRouteRef = createRouteRef();

/** `/directory/groups/{groupname}`: one group. */
export const groupRouteRef = createSubRouteRef({
  parent: groupsRouteRef,
  path: '/:groupname',
});

/** `/directory/certificates`: the user's own certificates. */
export const certificatesRouteRef = createRouteRef();

/** `/directory/certificates/request`: requests a certificate. */
export const requestCertificateRouteRef = createSubRouteRef({
  parent: certificatesRouteRef,
  path: '/request',
});

/** `/directory/certificates/{serial}`: one certificate, by its serial number. */
export const certificateRouteRef = createSubRouteRef({
  parent: certificatesRouteRef,
  path: '/:serial',
});

/** Catalog entity page, in portals with a catalog. */
export const catalogEntityRouteRef = createExternalRouteRef({
  params: ['kind', 'namespace', 'name'],
  defaultTarget: 'catalog.catalogEntity',
});
