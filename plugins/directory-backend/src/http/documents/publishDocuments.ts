import { resolvePackagePath } from '@backstage/backend-plugin-api';
import { readFile } from 'node:fs/promises';
import type { Dialect } from '../api/Dialect';
import { sendJson } from '../response/json';
import type { PublicDocuments } from './PublicDocuments';

/**
 * Serves the public documents of one dialect: the list of API versions, the API
 * document and the explorer.
 */
export function publishDocuments(
  documents: PublicDocuments,
  dialect: Pick<
    Dialect,
    'root' | 'uris' | 'contentType' | 'welcome' | 'specification'
  >,
): void {
  const { root, uris, contentType } = dialect;
  const index = {
    message: dialect.welcome,
    apis: [
      {
        version: 1,
        uri: `${uris.root}/v1/`,
        specs: `${uris.root}/specs/v1.json`,
        docs: `${uris.root}/docs/v1/`,
      },
    ],
  };
  const basePath = `${new URL(uris.root).pathname.replace(/\/$/, '')}/v1`;
  const specification = dialect.specification(basePath);
  documents.addHandler(root, async (_req, res) =>
    sendJson(res, { body: index, contentType }),
  );
  documents.addHandler(`${root}/specs/v1.json`, async (_req, res) =>
    sendJson(res, { body: specification, contentType }),
  );
  publishExplorer(documents, { root });
}

const own = (name: string) =>
  resolvePackagePath(
    '@directory-gateway/backstage-plugin-directory-backend',
    `assets/explorer/${name}`,
  );

/** Files that the page loads. It has no inline scripts or styles. */
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
 * Serves Swagger UI for `<root>/specs/v1.json` at `<root>/docs/v1/`, within the
 * portal's content security policy.
 */
function publishExplorer(
  documents: PublicDocuments,
  { root }: { readonly root: string },
): void {
  const path = `${root}/docs/v1`;
  documents.addHandler(path, async (req, res) => {
    const page = await readFile(own('index.html'), 'utf8');
    // Makes relative URLs work without a trailing slash, too.
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
