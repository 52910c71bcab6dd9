import {
  NotFoundErrorPage,
  routeResolutionApiRef,
  useApi,
  useAppLocation,
  useAppNavigate,
  useAppNode,
  useRouteRef,
  useRouteRefParams,
} from '@backstage/frontend-plugin-api';
import { lazy, type ReactNode, Suspense, useEffect } from 'react';
import { PageSkeleton } from './page/loading';
import {
  certificateRouteRef,
  groupRouteRef,
  peopleRouteRef,
  personRouteRef,
} from './routes';

/**
 * A page that is loaded when it is opened, or the portal's "page not found" for
 * paths below it.
 */
function LazyPage(props: {
  /** Number of path segments that the page reads below its own path. */
  segments: number;

  children: ReactNode;
}) {
  const { pathname } = useAppLocation();
  const node = useAppNode();
  const { matches } = useApi(routeResolutionApiRef).resolvePath({
    pathname,
    node,
  });
  // Without a match, the portal is leaving the page.
  const { basePath } = matches.at(-1) ?? { basePath: pathname };
  const below = pathname.slice(basePath.length).split('/').filter(Boolean);
  return below.length > props.segments ? (
    <NotFoundErrorPage />
  ) : (
    <Suspense fallback={<PageSkeleton />}>{props.children}</Suspense>
  );
}

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
    <LazyPage segments={1}>
      {username ? <PersonPage username={username} /> : <PeoplePage />}
    </LazyPage>
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
    <LazyPage segments={1}>
      {groupname ? <GroupPage groupname={groupname} /> : <GroupsPage />}
    </LazyPage>
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
    <LazyPage segments={1}>
      {serial ? <RequestOrCertificate serial={serial} /> : <CertificatesPage />}
    </LazyPage>
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

/** The page `/directory`, which redirects to the people page. */
export function DirectoryRoutes() {
  return (
    <LazyPage segments={0}>
      <RedirectToPeople />
    </LazyPage>
  );
}

function RedirectToPeople() {
  const people = useRouteRef(peopleRouteRef)?.();
  const navigate = useAppNavigate();
  useEffect(() => {
    if (people) {
      navigate(people, { replace: true });
    }
  }, [navigate, people]);
  return null;
}
