import type { OpenAPIV2 } from 'openapi-types';
import document from './swagger.json';

/**
 * Returns the Swagger 2.0 document of the fasjson dialect. Its structure is
 * FASJSON's, because `fasjson-client` builds its methods and results from it.
 * It does not name a host: clients use the host from which they loaded it.
 *
 * In responses, `result` has no `type: object`: bravado then returns parsed
 * JSON instead of models. FASJSON's document states incorrectly that
 * `list_group_sponsors` returns one record; the response is a list.
 *
 * @param basePath - path of the operations, for example
 *   `/api/directory/fasjson/v1`
 */
export function swaggerDocument(basePath: string): OpenAPIV2.Document {
  // TypeScript widens the literals of a JSON module ('2.0' to string).
  return { ...document, basePath } as unknown as OpenAPIV2.Document;
}
