import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../response/apiErrors';
import { readMultipart } from './readMultipart';

/**
 * The parameters of a POST: those of its body (a form, multipart or not, or
 * JSON), and for names that it lacks those of the query. The first value of a repeated one counts.
 *
 * @throws InvalidRequestError when the body is not what it says it is.
 */
export async function readParameters(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly query: URLSearchParams;
}): Promise<ReadonlyMap<string, string>> {
  const parameters = new Map<string, string>();
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
}): Promise<Iterable<[string, string]>> {
  const type = request.headers['content-type']?.split(';')[0].trim();
  const text = request.body.toString();
  switch (text === '' ? undefined : type?.toLowerCase()) {
    case 'application/x-www-form-urlencoded':
      return new URLSearchParams(text);
    case 'multipart/form-data':
      return readMultipart(request).catch(() => {
        throw malformed('body', 'Must be a multipart form.');
      });
    case 'application/json':
      return readJson(text);
    default:
      return [];
  }
}

function readJson(text: string): [string, string][] {
  const body = parse(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw malformed('body', 'Must be a JSON object.');
  }
  return Object.entries(body)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      if (typeof value === 'object') {
        throw malformed(name, 'Must be a text.');
      }
      return [name, String(value)];
    });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('body', 'Must be JSON.');
  }
}

function malformed(name: string, what: string): InvalidRequestError {
  return new InvalidRequestError({
    message: 'Input payload validation failed',
    errors: { [name]: what },
  });
}
