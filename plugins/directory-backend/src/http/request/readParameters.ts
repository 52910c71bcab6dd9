import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../response/apiErrors';
import type { ParameterErrors } from './ParameterErrors';
import { readMultipart } from './readMultipart';

/**
 * The parameters of a request by name. An object is a JSON array or object,
 * which no parameter accepts.
 */
export type RequestParameters = ReadonlyMap<string, string | object>;

/** The text of a parameter; `undefined` when it is missing or not text. */
export function readText(
  parameters: RequestParameters,
  name: string,
  errors: ParameterErrors,
): string | undefined {
  const value = parameters.get(name);
  if (typeof value === 'object') {
    errors.add(name, 'Must be a string.');
    return undefined;
  }
  return value;
}

/**
 * The parameters of a POST: those of its body (a form, multipart or not, or
 * JSON), and, for names that the body lacks, those of the query. The first
 * value of a repeated parameter counts.
 *
 * @throws InvalidRequestError when the body does not match its content type.
 */
export async function readParameters(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly query: URLSearchParams;
}): Promise<RequestParameters> {
  const parameters = new Map<string, string | object>();
  for (const [name, value] of [
    ...(await readBody(request)),
    ...request.query,
  ]) {
    if (!parameters.has(name)) {
      parameters.set(name, value);
    }
  }
  return parameters;
}

async function readBody(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}): Promise<Iterable<readonly [string, string | object]>> {
  const type = request.headers['content-type']?.split(';')[0].trim();
  const text = request.body.toString();
  switch (text === '' ? undefined : type?.toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return new URLSearchParams(text);
    case 'multipart/form-data':
      return readMultipart(request).catch(() => {
        throw malformedBody('Must be a multipart form.');
      });
    case 'application/json':
      return readJson(text);
    default:
      return [];
  }
}

function readJson(text: string): [string, string | object][] {
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw malformedBody('Must be a JSON object.');
  }
  return Object.entries(body)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [
      name,
      typeof value === 'object' ? value : String(value),
    ]);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformedBody('Must be JSON.');
  }
}

function malformedBody(message: string): InvalidRequestError {
  return new InvalidRequestError({
    message: 'Input payload validation failed',
    errors: { body: message },
  });
}
