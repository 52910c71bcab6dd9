import {
  createExternalRouteRef,
  createRouteRef,
  createSubRouteRef,
} from '@backstage/frontend-plugin-api';

/** `/directory/people`: who am I looking for? */
export const peopleRouteRef = createRouteRef();

/** `/directory/people/{username}`: who is this, how do I reach them? */
export const personRouteRef = createSubRouteRef({
  parent: peopleRouteRef,
  path: '/:username',
});

/** `/directory/groups`: what groups are there? */
export const groupsRouteRef = createRouteRef();

/** `/directory/groups/{groupname}`: what is this, who runs it, who is in? */
export const groupRouteRef = createSubRouteRef({
  parent: groupsRouteRef,
  path: '/:groupname',
});

/** `/directory/certificates`: what do I hold, what runs out? */
export const certificatesRouteRef = createRouteRef();

/** `/directory/certificates/request`: how do I get one? */
export const requestCertificateRouteRef = createSubRouteRef({
  parent: certificatesRouteRef,
  path: '/request',
});

/** `/directory/certificates/{serial}`: one, by its serial number as text. */
export const certificateRouteRef = createSubRouteRef({
  parent: certificatesRouteRef,
  path: '/:serial',
});

/** The catalog's page of an entity, in portals that have a catalog. */
export const catalogEntityRouteRef = createExternalRouteRef({
  params: ['kind', 'namespace', 'name'],
  defaultTarget: 'catalog.catalogEntity',
});
