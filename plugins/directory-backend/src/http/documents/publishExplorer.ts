import { resolvePackagePath } from '@backstage/backend-plugin-api';
import { readFile } from 'node:fs/promises';
import type { PublicDocuments } from './PublicDocuments';

const own = (name: string) =>
  resolvePackagePath(
    '@directory-gateway/backstage-plugin-directory-backend',
    `assets/explorer/${name}`,
  );

/** What the page loads: files of our own and of Swagger UI, nothing inline. */
const ASSETS = [
  { name: 'explorer.js', type: 'text/javascript', file: own('explorer.js') },
  { name: 'explorer.css', type: 'text/css', file: own('explorer.css') },
  {
    name: 'swagger-ui-bundle.js',
    type: 'text/javascript',
    file: require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  },
  {
    name: 'swagger-ui.css',
    type: 'text/css',
    file: require.resolve('swagger-ui-dist/swagger-ui.css'),
  },
  {
    name: 'favicon.png',
    type: 'image/png',
    file: require.resolve('swagger-ui-dist/favicon-32x32.png'),
  },
];

/**
 * Serves Swagger UI at `<root>/docs/v1/`, which shows `<root>/specs/v1.json`
 * and needs no more than the portal's content security policy allows.
 */
export function publishExplorer(
  documents: PublicDocuments,
  { root }: { readonly root: string },
): void {
  const path = `${root}/docs/v1`;
  documents.addHandler(path, async (req, res) => {
    const page = await readFile(own('index.html'), 'utf8');
    // What the page loads lies beside it, also where its slash is missing.
    const base = req.path.endsWith('/') ? './' : 'v1/';
    res.type('html').send(page.replace('href="./"', `href="${base}"`));
  });
  for (const { name, type, file } of ASSETS) {
    documents.addPublicDocument({
      path: `${path}/${name}`,
      contentType: type,
      read: () => readFile(file),
    });
  }
}
