import { lazy, Suspense } from 'react';
import { Route, Routes } from 'react-router-dom';
import { PageSkeleton } from './states/PageSkeleton';

const PeoplePage = lazy(() =>
  import('./people/PeoplePage').then(m => ({ default: m.PeoplePage })),
);
const PersonPage = lazy(() =>
  import('./person/PersonPage').then(m => ({ default: m.PersonPage })),
);

/** The pages below `/directory/people`, each loaded when it is opened. */
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
