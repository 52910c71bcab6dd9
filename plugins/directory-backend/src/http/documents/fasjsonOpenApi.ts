import type { OpenAPIV3_1 } from 'openapi-types';
import { FasjsonOperations } from './FasjsonOperations';

const PAGE: OpenAPIV3_1.SchemaObject = {
  type: 'object',
  description: 'Which page of a list this is; absent when it is whole.',
  required: ['total_results', 'page_size', 'page_number', 'total_pages'],
  properties: {
    total_results: { type: 'integer' },
    page_size: { type: 'integer' },
    page_number: { type: 'integer' },
    total_pages: { type: 'integer' },
    next_page: { type: 'string', format: 'uri' },
  },
};

/**
 * The contract's document as the fasjson dialect has it: the operations of the
 * contract without its extensions, the parameters as clients of the reference
 * send them, and records of which a mask may have left any key out.
 */
export function fasjsonOpenApi(
  contract: OpenAPIV3_1.Document,
): OpenAPIV3_1.Document {
  const operations = new FasjsonOperations(contract);
  const paths = operations.paths();
  return {
    openapi: contract.openapi,
    info: {
      title: contract.info.title,
      version: contract.info.version,
      description:
        'Users, groups, membership, agreements and certificates of a directory, as FASJSON answers for them.',
      license: { name: contract.info.license!.name },
    },
    tags: contract.tags,
    paths,
    components: { schemas: { ...operations.records(), Page: PAGE } },
  };
}
