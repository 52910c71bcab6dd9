import { Busboy } from '@fastify/busboy';
import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../../apiErrors';
import type { ParameterErrors } from './ParameterErrors';

/** Maximum number of multipart parts: more than any operation has parameters. */
const MAX_PARTS = 32;

/** Bytes of a multipart form that are parsed before its parts are counted. */
const CHUNK_SIZE = 4096;

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
 * Reads the parameters of a POST from its body (form, multipart form or JSON)
 * and, for names that the body lacks, from its query. The first value of a
 * repeated parameter is used.
 *
 * @throws InvalidRequestError when the body does not match its content type.
 */
export async function readParameters(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly query: URLSearchParams;
  /** Whether the query precedes a form. Default: no. */
  readonly queryOverridesForm?: boolean;
}): Promise<RequestParameters> {
  const { headers, query, queryOverridesForm } = request;
  const body = await readBody(request);
  const parameters = new Map<string, string | object>();
  for (const [name, value] of queryOverridesForm &&
  !isJson(mediaTypeOf(headers))
    ? [...query, ...body]
    : [...body, ...query]) {
    if (!parameters.has(name)) {
      parameters.set(name, value);
    }
  }
  return parameters;
}

/** Returns the media type of a body in lower case, without parameters. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
}

/** Returns whether a media type is JSON or based on it (RFC 6839 §3.1). */
export function isJson(mediaType: string): boolean {
  return /^application\/(?:json|.+\+json)$/.test(mediaType);
}

async function readBody(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}): Promise<Iterable<readonly [string, string | object]>> {
  const text = request.body.toString();
  const type = text === '' ? '' : mediaTypeOf(request.headers);
  if (isJson(type)) {
    return readJson(text);
  }
  switch (type) {
    case 'application/x-www-form-urlencoded':
      return new URLSearchParams(text);
    case 'multipart/form-data':
      return readMultipart(request).catch(error => {
        throw error instanceof InvalidRequestError
          ? error
          : malformedBody('Must be a multipart form.');
      });
    default:
      return [];
  }
}

/**
 * The fields of a multipart form (RFC 7578), as `curl -F` sends it. Files are
 * ignored, as in FASJSON.
 */
function readMultipart(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}): Promise<readonly [string, string][]> {
  const { headers, body } = request;
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = [];
    const parser = new Busboy({
      headers: { 'content-type': headers['content-type'] ?? '' },
      limits: { parts: MAX_PARTS, fieldSize: body.length, files: 0 },
    });
    let hasTooManyParts = false;
    parser.once('partsLimit', () => {
      hasTooManyParts = true;
      reject(
        malformedBody(
          `Must be a multipart form of at most ${MAX_PARTS} parts.`,
        ),
      );
    });
    parser.on('field', (name, value) => fields.push([name, value]));
    parser.once('error', reject);
    parser.once('finish', () => resolve(fields));
    for (let at = 0; at < body.length && !hasTooManyParts; at += CHUNK_SIZE) {
      parser.write(body.subarray(at, at + CHUNK_SIZE));
    }
    parser.end();
  });
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
