import addFormats from 'ajv-formats';
import Ajv, { type ErrorObject } from 'ajv/dist/2020';
import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { dereference, findOperation } from './findOperation';

/** A response to validate. */
export interface ObservedResponse {
  /** Method of the request. */
  method: string;
  /**
   * Path of the request: a template of the contract, a path with or without
   * `/v1`, or a complete URL.
   */
  path: string;
  /** Whether the request has a mask: an `X-Fields` header that is not blank. */
  masked?: boolean;
  /** Status of the response. */
  status: number;
  /** Headers of the response, from `fetch` or Node.js (lower-case names). */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** Body of the response as text. */
  body: string;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
addFormats(ajv);
ajv.addFormat('bigint', { type: 'number', validate: Number.isInteger });
ajv.addVocabulary([...Object.keys(openApiDocument), 'x-extension']);
ajv.addSchema(openApiDocument, 'contract');

/**
 * Throws when the status, headers or body of a response violate the contract.
 * Without a mask, records must have all keys; with a mask, any key may be
 * missing. Unknown paths and methods must return one of the errors common to
 * all paths.
 */
export function validateResponse(response: ObservedResponse): void {
  const faults = findFaults(response);
  if (faults.length === 0) {
    return;
  }
  const { method, path, masked, status, body } = response;
  throw new Error(
    [
      `The contract does not allow this response to ${method} ${path}${
        masked ? ' (masked)' : ''
      }:`,
      ...faults.map(fault => `  - ${fault}`),
      `Status ${status}, body: ${body.slice(0, 2000) || '(empty)'}`,
    ].join('\n'),
  );
}

function findFaults(response: ObservedResponse): string[] {
  const { method, path, status } = response;
  const documented = documentedResponses(method, path)[status];
  return documented
    ? [
        ...headerFaults(response, documented),
        ...bodyFaults(response, documented),
      ]
    : [`status ${status} is not documented here`];
}

function headerFaults(
  response: ObservedResponse,
  documented: ContractResponse,
): string[] {
  const faults: string[] = [];
  for (const [name, reference] of Object.entries(documented.headers ?? {})) {
    const header = dereference(reference);
    const text = headerOf(response, name);
    if (text === undefined) {
      if (header.required) {
        faults.push(`header ${name} is missing`);
      }
      continue;
    }
    const schema = header.schema ?? {};
    const isNumber = 'type' in schema && schema.type === 'integer';
    ajv.validate(schema, isNumber ? Number(text) : text);
    faults.push(...describeErrors(ajv.errors, `header ${name}`));
  }
  return faults;
}

function bodyFaults(
  response: ObservedResponse,
  documented: ContractResponse,
): string[] {
  const schema = documented.content?.['application/json']?.schema;
  const isEmpty = !documented.content;
  if (isEmpty || response.method.toUpperCase() === 'HEAD') {
    return response.body === '' ? [] : ['the body is not empty'];
  }
  const type = headerOf(response, 'Content-Type');
  const [file] = Object.keys(documented.content ?? {});
  if (file !== 'application/json') {
    return type?.startsWith(`${file};`) ? [] : [`Content-Type is ${type}`];
  }
  if (!type || !/^application\/json(;|$)/.test(type)) {
    return [`Content-Type is ${type}, not application/json`];
  }
  const faults = schemaNames(schema ?? {}, response.masked ?? false).map(name =>
    faultsBy(name, response.body),
  );
  return faults.some(found => found.length === 0) ? [] : faults[0];
}

function faultsBy(name: string, body: string): string[] {
  const isValid = ajv.getSchema(`contract${name}`);
  if (!isValid) {
    throw new Error(`The OpenAPI document has no ${name}`);
  }
  try {
    isValid(parsePlainNumbers(body));
  } catch (error) {
    return [String(error)];
  }
  return describeErrors(isValid.errors, 'body');
}

/** The complete or the masked schemas. */
function schemaNames(schema: object, masked: boolean): string[] {
  const shapes = 'anyOf' in schema ? (schema.anyOf as object[]) : [schema];
  const names = shapes.map(shape => ('$ref' in shape ? `${shape.$ref}` : ''));
  const isMasked = (name: string) => name.includes('/Masked');
  const requested = names.filter(name => isMasked(name) === masked);
  return requested.length > 0 ? requested : names;
}

/** Parses JSON and requires numbers to be written as integers. */
function parsePlainNumbers(text: string): unknown {
  const checkNumber = (
    key: string,
    value: unknown,
    context?: { source?: string },
  ) => {
    const source = context?.source ?? '';
    if (typeof value === 'number' && !/^-?\d+$/.test(source)) {
      throw new SyntaxError(`${key} is written as ${source}`);
    }
    return value;
  };
  return JSON.parse(text, checkNumber);
}

function headerOf(response: ObservedResponse, name: string) {
  const { headers } = response;
  const value =
    headers instanceof Headers
      ? (headers.get(name) ?? undefined)
      : headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

function describeErrors(
  errors: ErrorObject[] | null | undefined,
  subject: string,
): string[] {
  return (errors ?? []).map(({ instancePath, message, params }) => {
    const stray = params.additionalProperty ?? params.unevaluatedProperty;
    const detail = stray === undefined ? '' : ` (${stray})`;
    return `${subject}${instancePath} ${message}${detail}`;
  });
}

const shared = openApiDocument.components?.responses ?? {};

/** A response of the contract, by status. */
export type ContractResponse = Exclude<
  (typeof shared)[string],
  { $ref: string }
>;

type ResponsesByStatus = Record<string, ContractResponse>;

/** Errors common to all paths. */
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
 * Returns the documented responses to a request, by status. Without an
 * operation, these are the errors common to all paths, 404 for an unknown path,
 * 405 for an unsupported method, and 204 for OPTIONS.
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

/** `Allow` lists the methods of the path in any order (RFC 9110 §10.2.1). */
function allowHeader(methods: string[]) {
  const all = methods.map(method => `(?=.*\\b${method}\\b)`).join('');
  return {
    required: true,
    schema: { type: 'string' as const, pattern: `^${all}` },
  };
}
