import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { dereference, findOperation } from './findOperation';

const shared = openApiDocument.components?.responses ?? {};

/** What the contract says about an answer with one status. */
export type ContractResponse = Exclude<
  (typeof shared)[string],
  { $ref: string }
>;

type ResponsesByStatus = Record<string, ContractResponse>;

/** The errors of every path, whether an operation answers there or not. */
const commonErrors: ResponsesByStatus = {
  401: dereference(shared.Unauthorized),
  403: dereference(shared.Forbidden),
  429: dereference(shared.TooManyRequests),
  503: dereference(shared.ServiceUnavailable),
  504: dereference(shared.GatewayTimeout),
};

const errorContent = {
  'application/json': { schema: { $ref: '#/components/schemas/Error' } },
};

/**
 * What the contract says about the answers to a request, by status. Where no
 * operation answers, those are the errors of every path, and 404 for an
 * unknown path, 405 for another method, 204 for OPTIONS.
 */
export function documentedResponses(
  method: string,
  path: string,
): ResponsesByStatus {
  const found = findOperation(method, path);
  switch (found.kind) {
    case 'operation':
      return Object.fromEntries(
        Object.entries(found.operation.responses ?? {}).map(
          ([status, response]) => [status, dereference(response)],
        ),
      );
    case 'unknown-path':
      return {
        ...commonErrors,
        404: { description: 'No such path', content: errorContent },
      };
    default: {
      const headers = { Allow: allowHeader(found.allowed) };
      return method.toUpperCase() === 'OPTIONS'
        ? { ...commonErrors, 204: { description: 'The methods', headers } }
        : {
            ...commonErrors,
            405: {
              description: 'No such method',
              headers,
              content: errorContent,
            },
          };
    }
  }
}

/** `Allow` names every method of the path, in any order (RFC 9110 §10.2.1). */
function allowHeader(methods: string[]) {
  const all = methods.map(method => `(?=.*\\b${method}\\b)`).join('');
  return {
    required: true,
    schema: { type: 'string' as const, pattern: `^${all}` },
  };
}
