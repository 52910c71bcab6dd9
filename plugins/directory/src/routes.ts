import {
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
