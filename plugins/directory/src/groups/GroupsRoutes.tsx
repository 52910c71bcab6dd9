import { lazy, Suspense } from 'react';
import { Route, Routes } from 'react-router-dom';
import { PageSkeleton } from '../states/PageSkeleton';

const GroupsPage = lazy(() =>
  import('./GroupsPage').then(m => ({ default: m.GroupsPage })),
);
const GroupPage = lazy(() =>
  import('../group/GroupPage').then(m => ({ default: m.GroupPage })),
);

/** The pages below `/directory/groups`, each loaded when it is opened. */
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
