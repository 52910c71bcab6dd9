import type { OpenAPIV3_1 } from 'openapi-types';
import document from './generated/openapi.json';

/**
 * The API as an OpenAPI 3.1 document, the source of all types and of the
 * specification that the gateway publishes. Paths are relative to its `servers`
 * entry, `/api/directory/v1`. Immutable.
 *
 * @public
 */
export const openApiDocument =
  // TypeScript widens the literals of a JSON module ('3.1.0' to string).
  document as unknown as OpenAPIV3_1.Document;
