import '@backstage/cli/asset-types';
import '@backstage/ui/css/styles.css';
import { createRoot } from 'react-dom/client';
import { app } from './App';

const container = document.getElementById('root');
if (!container) {
  throw new Error('index.html has no element with the id "root"');
}
// Relative links would interpret a path that begins with two slashes as another
// host.
const { pathname, search, hash } = window.location;
if (pathname.startsWith('//')) {
  const path = pathname.replace(/^\/+/, '/');
  window.history.replaceState(null, '', `${path}${search}${hash}`);
}

createRoot(container).render(app.createRoot());
