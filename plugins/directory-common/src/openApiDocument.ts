import type { OpenAPIV3_1 } from 'openapi-types';
import document from './generated/openapi.json';

/**
 * The contract, as an OpenAPI 3.1 document: the source of every type and of
 * the specification that the gateway serves. Paths are relative to its
 * `servers` entry, `/api/directory/v1`. Treat it as immutable.
 *
 * @public
 */
export const openApiDocument =
  // TypeScript widens the literals of a JSON module ('3.1.0' to string).
  document as unknown as OpenAPIV3_1.Document;
