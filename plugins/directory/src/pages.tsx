import { useRouteRef } from '@backstage/frontend-plugin-api';
import { lazy, Suspense } from 'react';
import { Navigate, Route, Routes } from 'react-router-dom';
import { PageSkeleton } from './page/states';
import { peopleRouteRef } from './routes';

const PeoplePage = lazy(() =>
  import('./people/PeoplePage').then(m => ({ default: m.PeoplePage })),
);
const PersonPage = lazy(() =>
  import('./person/PersonPage').then(m => ({ default: m.PersonPage })),
);

/** The pages under `/directory/people`, each loaded when it is opened. */
export function PeopleRoutes() {
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Routes>
        <Route path="/" element={<PeoplePage />} />
        <Route path="/:username" element={<PersonPage />} />
      </Routes>
    </Suspense>
  );
}

const GroupsPage = lazy(() =>
  import('./groups/GroupsPage').then(m => ({ default: m.GroupsPage })),
);
const GroupPage = lazy(() =>
  import('./group/GroupPage').then(m => ({ default: m.GroupPage })),
);

/** The pages under `/directory/groups`, each loaded when it is opened. */
export function GroupsRoutes() {
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Routes>
        <Route path="/" element={<GroupsPage />} />
        <Route path="/:groupname" element={<GroupPage />} />
      </Routes>
    </Suspense>
  );
}

const CertificatesPage = lazy(() =>
  import('./certificates/mine/CertificatesPage').then(m => ({
    default: m.CertificatesPage,
  })),
);
const CertificatePage = lazy(() =>
  import('./certificates/details/CertificatePage').then(m => ({
    default: m.CertificatePage,
  })),
);
const RequestPage = lazy(() =>
  import('./certificates/request/RequestPage').then(m => ({
    default: m.RequestPage,
  })),
);

/** The pages under `/directory/certificates`, each loaded when it is opened. */
export function CertificatesRoutes() {
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Routes>
        <Route path="/" element={<CertificatesPage />} />
        <Route path="/request" element={<RequestPage />} />
        <Route path="/:serial" element={<CertificatePage />} />
      </Routes>
    </Suspense>
  );
}

/** Redirects from `/directory` to the people page. */
export function RedirectToPeople() {
  const people = useRouteRef(peopleRouteRef);
  return people ? <Navigate to={people()} replace /> : null;
}
