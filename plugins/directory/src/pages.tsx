import {
  useAppNavigate,
  useRouteRef,
  useRouteRefParams,
} from '@backstage/frontend-plugin-api';
import { lazy, Suspense, useEffect } from 'react';
import { PageSkeleton } from './page/loading';
import {
  certificateRouteRef,
  groupRouteRef,
  peopleRouteRef,
  personRouteRef,
} from './routes';

const PeoplePage = lazy(() =>
  import('./people/PeoplePage').then(m => ({ default: m.PeoplePage })),
);
const PersonPage = lazy(() =>
  import('./person/PersonPage').then(m => ({ default: m.PersonPage })),
);

/** The pages under `/directory/people`, each loaded when it is opened. */
export function PeopleRoutes() {
  const { username } = useRouteRefParams(personRouteRef);
  return (
    <Suspense fallback={<PageSkeleton />}>
      {username ? <PersonPage username={username} /> : <PeoplePage />}
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
  const { groupname } = useRouteRefParams(groupRouteRef);
  return (
    <Suspense fallback={<PageSkeleton />}>
      {groupname ? <GroupPage groupname={groupname} /> : <GroupsPage />}
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
  const { serial } = useRouteRefParams(certificateRouteRef);
  return (
    <Suspense fallback={<PageSkeleton />}>
      {serial ? <RequestOrCertificate serial={serial} /> : <CertificatesPage />}
    </Suspense>
  );
}

/** The last segment of the path is a serial number or `request`. */
function RequestOrCertificate({ serial }: { serial: string }) {
  return serial.toLowerCase() === 'request' ? (
    <RequestPage />
  ) : (
    <CertificatePage serial={serial} />
  );
}

/** Redirects from `/directory` to the people page. */
export function RedirectToPeople() {
  const people = useRouteRef(peopleRouteRef)?.();
  const navigate = useAppNavigate();
  useEffect(() => {
    if (people) {
      navigate(people, { replace: true });
    }
  }, [navigate, people]);
  return null;
}
