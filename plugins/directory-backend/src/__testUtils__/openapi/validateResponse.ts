import addFormats from 'ajv-formats';
import Ajv, { type ErrorObject } from 'ajv/dist/2020';
import { openApiDocument } from '@directory-gateway/backstage-plugin-directory-common';
import { dereference, findOperation } from './findOperation';

/** A response as a test saw it. */
export interface ObservedResponse {
  /** The method of the request. */
  method: string;
  /**
   * The path of the request: a template of the contract, a path with or
   * without `/v1`, or a whole URL.
   */
  path: string;
  /** Whether the request carried a mask: an `X-Fields` that is not blank. */
  masked?: boolean;
  /** The status of the response. */
  status: number;
  /** The headers of the response: fetch's, or Node's (lower-case names). */
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>;
  /** The body of the response, as text. */
  body: string;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
addFormats(ajv);
ajv.addFormat('bigint', { type: 'number', validate: Number.isInteger });
ajv.addVocabulary([...Object.keys(openApiDocument), 'x-extension']);
ajv.addSchema(openApiDocument, 'contract');

/**
 * Throws when the contract does not allow a response: its status, its headers
 * or its body. Without a mask every key of a record must be there; with one,
 * any may be missing. What no operation answers (an unknown path, another
 * method) must be one of the errors that every path has.
 */
export function validateResponse(response: ObservedResponse): void {
  const faults = findFaults(response);
  if (faults.length === 0) {
    return;
  }
  const { method, path, masked, status, body } = response;
  throw new Error(
    [
      `The contract does not allow this answer to ${method} ${path}${
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

/** Of the complete and the masked shapes, those that the request asked for. */
function schemaNames(schema: object, masked: boolean): string[] {
  const shapes = 'anyOf' in schema ? (schema.anyOf as object[]) : [schema];
  const names = shapes.map(shape => ('$ref' in shape ? `${shape.$ref}` : ''));
  const isMasked = (name: string) => name.includes('/Masked');
  const asked = names.filter(name => isMasked(name) === masked);
  return asked.length > 0 ? asked : names.slice(0, 1);
}

/** Every number of the contract is an integer, and is written as one. */
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
      ? headers.get(name) ?? undefined
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
