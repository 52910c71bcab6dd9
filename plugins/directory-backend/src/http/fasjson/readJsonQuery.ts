import type { IncomingHttpHeaders } from 'node:http';

/**
 * The parameters in the JSON body of a GET, which the reference reads before
 * those of the query; a list is a repeated parameter. As there, a body that is
 * no JSON object, or does not say that it is JSON, has none.
 */
export function readJsonQuery(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}): readonly [string, string][] {
  const type = request.headers['content-type']?.split(';')[0].trim();
  const body =
    type?.toLowerCase() === 'application/json'
      ? parse(request.body.toString())
      : undefined;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return [];
  }
  return Object.entries(body).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter(one => one !== null && typeof one !== 'object')
      .map((one): [string, string] => [name, String(one)]),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
