import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';

type PathItem = NonNullable<NonNullable<typeof openApiDocument.paths>[string]>;

/** An operation of the contract, as the OpenAPI document has it. */
export type ContractOperation = NonNullable<PathItem['get']>;

/** What the contract knows about a method and a path. */
export type FoundOperation =
  | { kind: 'operation'; operation: ContractOperation }
  | { kind: 'other-method'; allowed: string[] }
  | { kind: 'unknown-path' };

/** Where the API may be mounted, in front of the contract's paths. */
const MOUNT = /^(?:https?:\/\/[^/]+)?(?:\/api\/directory)?\/v1(?=\/|$)/;

/**
 * Finds the operation that answers a request. The path is a template of the
 * contract (`/users/{username}/`), a request path below `/v1`, or a whole URL;
 * its query is ignored, and its trailing slash does not matter.
 */
export function findOperation(method: string, target: string): FoundOperation {
  const path = target.replace(/[?#].*$/s, '').replace(MOUNT, '');
  for (const [template, item] of Object.entries(openApiDocument.paths ?? {})) {
    if (item && matches({ path, template, item })) {
      const operation = operationOf(item, method);
      return operation
        ? { kind: 'operation', operation }
        : { kind: 'other-method', allowed: allowedMethods(item) };
    }
  }
  return { kind: 'unknown-path' };
}

function matches(options: {
  path: string;
  template: string;
  item: PathItem;
}): boolean {
  const { path, template, item } = options;
  const pattern = template
    .replace(/\/$/, '')
    .replace(/\{(\w+)\}/g, (placeholder, name) => {
      const segment = isInteger(item, name) ? '\\d+' : '[^/]+';
      return `(?:\\${placeholder.replace('}', '\\}')}|${segment})`;
    });
  return new RegExp(`^${pattern}/?$`).test(path);
}

/** Whether a path parameter takes digits only, so that others match no path. */
function isInteger(item: PathItem, name: string): boolean {
  return (
    item.parameters?.some(
      parameter =>
        '$ref' in parameter &&
        parameter.$ref === '#/components/parameters/SerialNumber' &&
        name === 'serial_number',
    ) ?? false
  );
}

function operationOf(
  item: PathItem,
  method: string,
): ContractOperation | undefined {
  switch (method.toUpperCase()) {
    case 'GET':
    case 'HEAD': // answered as GET, without the body
      return item.get;
    case 'POST':
      return item.post;
    default:
      return undefined;
  }
}

function allowedMethods(item: PathItem): string[] {
  return [
    ...(item.get ? ['GET', 'HEAD'] : []),
    ...(item.post ? ['POST'] : []),
    'OPTIONS',
  ];
}
