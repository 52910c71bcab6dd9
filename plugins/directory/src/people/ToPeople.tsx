import { useRouteRef } from '@backstage/frontend-plugin-api';
import { Navigate } from 'react-router-dom';
import { peopleRouteRef } from '../routes';

/** Leads from `/directory` to people. */
export function ToPeople() {
  const people = useRouteRef(peopleRouteRef);
  return people ? <Navigate to={people()} replace /> : null;
}
