import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import type { Dialect } from '../api/Dialect';
import { swaggerDocument } from '../fasjson/swaggerDocument';
import type { PublicDocuments } from './PublicDocuments';
import { sendJson } from '../response/json';
import { publishExplorer } from './publishExplorer';

/**
 * Serves the public documents of one dialect: the list of API versions, the API
 * document and the explorer.
 */
export function publishDocuments(
  documents: PublicDocuments,
  { root, uris, contentType }: Pick<Dialect, 'root' | 'uris' | 'contentType'>,
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
  documents.addHandler(root, async (_req, res) =>
    sendJson(res, { body: index, contentType }),
  );
  documents.addHandler(`${root}/specs/v1.json`, async (_req, res) =>
    sendJson(res, { body: specification, contentType }),
  );
  publishExplorer(documents, { root });
}
