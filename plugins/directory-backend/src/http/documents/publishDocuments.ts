import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import type { Dialect } from '../dialect/Dialect';
import type { PublicDocuments } from '../PublicDocuments';
import { publishExplorer } from './publishExplorer';
import { swaggerDocument } from './swaggerDocument';

/**
 * Serves what tells about the API in one dialect, without a login: the index,
 * its specification and the explorer.
 */
export function publishDocuments(
  documents: PublicDocuments,
  { root, uris }: Pick<Dialect, 'root' | 'uris'>,
): void {
  const isOwn = root === '';
  const index = {
    message: isOwn ? 'Welcome to the directory gateway' : 'Welcome to FASJSON',
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
  const specification = isOwn
    ? { ...openApiDocument, servers: [{ url: basePath }] }
    : swaggerDocument({ basePath });
  documents.addHandler(root, async (_req, res) => void res.json(index));
  documents.addHandler(
    `${root}/specs/v1.json`,
    async (_req, res) => void res.json(specification),
  );
  publishExplorer(documents, { root });
}
