import { lazy, Suspense } from 'react';
import { Route, Routes } from 'react-router-dom';
import { PageSkeleton } from '../states/PageSkeleton';

const CertificatesPage = lazy(() =>
  import('./mine/CertificatesPage').then(m => ({
    default: m.CertificatesPage,
  })),
);
const CertificatePage = lazy(() =>
  import('./details/CertificatePage').then(m => ({
    default: m.CertificatePage,
  })),
);
const RequestPage = lazy(() =>
  import('./request/RequestPage').then(m => ({ default: m.RequestPage })),
);

/** The pages below `/directory/certificates`, each loaded when it is opened. */
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
