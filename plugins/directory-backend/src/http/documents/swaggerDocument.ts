import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { OpenApi, type OpenApiV3_1, type SwaggerV2 } from '@samchon/openapi';
import type { OpenAPIV3_1 } from 'openapi-types';
import { fasjsonOpenApi } from './fasjsonOpenApi';

/**
 * The fasjson dialect as a Swagger 2.0 document: clients of the reference
 * (bravado) make themselves of it.
 *
 * Without a host, so that a client asks where it has the document from.
 */
export function swaggerDocument(options: {
  /** Of the mount, for example `/api/directory/fasjson/v1`. */
  readonly basePath: string;
}): object {
  const source = fasjsonOpenApi(openApiDocument);
  const { definitions, paths, info, tags } = OpenApi.downgrade(
    OpenApi.convert(source as OpenApiV3_1.IDocument),
    '2.0',
  );
  const { schemas: _empty, ...records } = definitions ?? {};
  return withoutEmpty({
    swagger: '2.0',
    ...{ info, tags, basePath: options.basePath },
    consumes: ['application/json'],
    produces: ['application/json'],
    paths: Object.fromEntries(
      Object.entries(paths ?? {}).map(([path, item]) => [
        path,
        withParameters(item, source.paths![path]!),
      ]),
    ),
    definitions: records,
  });
}

/**
 * The converter keeps neither that a parameter is required nor how a list is
 * written in a query.
 */
function withParameters(
  item: SwaggerV2.IPath,
  source: OpenAPIV3_1.PathItemObject,
): object {
  const methods = (['get', 'post'] as const).filter(method => item[method]);
  return Object.fromEntries(
    methods.map(method => {
      const { parameters = [], ...operation } = item[method]!;
      const originals = source[method]!
        .parameters as readonly OpenAPIV3_1.ParameterObject[];
      return [
        method,
        {
          ...operation,
          parameters: parameters.map((parameter, index) => ({
            ...parameter,
            required: originals[index].required,
            ...('items' in parameter && { collectionFormat: 'multi' }),
          })),
        },
      ];
    }),
  );
}

/** Without what the converter leaves empty. */
function withoutEmpty(value: unknown): object {
  const plain = JSON.stringify(value);
  return JSON.parse(plain, (key, inner) =>
    ['required', 'schema'].includes(key) &&
    typeof inner === 'object' &&
    Object.keys(inner).length === 0
      ? undefined
      : inner,
  );
}
