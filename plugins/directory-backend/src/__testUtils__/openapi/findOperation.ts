import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';

type PathItem = NonNullable<
  NonNullable<(typeof openApiDocument)['paths']>[string]
>;

/** An operation of the OpenAPI document. */
export type ContractOperation = NonNullable<PathItem['get']>;

/** Matches a method and a path of the contract. */
export type FoundOperation =
  | { kind: 'operation'; operation: ContractOperation }
  | { kind: 'other-method'; allowed: string[] }
  | { kind: 'unknown-path' };

/** Prefix of the contract's paths. */
const MOUNT = /^(?:https?:\/\/[^/]+)?(?:\/api\/directory)?\/v1(?=\/|$)/;

/**
 * Finds the operation of a request. The path is a template of the contract
 * (`/users/{username}/`), a request path with or without `/v1`, or a URL. Query
 * and trailing slash are ignored.
 */
export function findOperation(method: string, target: string): FoundOperation {
  const [path] = target.replace(MOUNT, '').split(/[?#]/);
  const templates = Object.entries(openApiDocument.paths ?? {});
  const [, item] =
    templates.find(([template]) => template === path) ??
    templates.find(([template]) => patternOf(template).test(path)) ??
    [];
  if (!item) {
    return { kind: 'unknown-path' };
  }
  const operation = operationOf(item, method);
  return operation
    ? { kind: 'operation', operation }
    : { kind: 'other-method', allowed: allowedMethods(item) };
}

/** Follows a reference within the OpenAPI document. */
export function dereference<Value>(
  value: Value,
): Exclude<Value, { $ref: string }> {
  type Target = Exclude<Value, { $ref: string }>;
  if (typeof value !== 'object' || value === null || !('$ref' in value)) {
    return value as Target;
  }
  const target = String(value.$ref)
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (parent, key) => (parent as Record<string, unknown>)[key],
      openApiDocument,
    );
  return dereference(target as Value);
}

function patternOf(template: string): RegExp {
  const pattern = template
    .replace(/\/$/, '')
    .replace(/\{(\w+)\}/g, (_, name) => segmentPattern(template, name));
  return new RegExp(`^${pattern}/?$`);
}

/** Returns the pattern of a path parameter; integers must be digits. */
function segmentPattern(template: string, name: string): string {
  const parameters = openApiDocument.paths?.[template]?.parameters ?? [];
  const parameter = parameters
    .map(dereference)
    .find(candidate => candidate.name === name);
  const schema = dereference(parameter?.schema);
  return schema?.type === 'integer' ? '\\d+' : '[^/]+';
}

/** Maps HEAD to the operation of GET. */
function operationOf(
  item: PathItem,
  method: string,
): ContractOperation | undefined {
  switch (method.toUpperCase()) {
    case 'GET':
    case 'HEAD':
      return item.get;
    case 'POST':
      return item.post;
    case 'PUT':
      return item.put;
    default:
      return undefined;
  }
}

function allowedMethods(item: PathItem): string[] {
  return [
    ...(item.get ? ['GET', 'HEAD'] : []),
    ...(item.post ? ['POST'] : []),
    ...(item.put ? ['PUT'] : []),
    'OPTIONS',
  ];
}
