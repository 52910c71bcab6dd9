import { Busboy } from '@fastify/busboy';
import type { IncomingHttpHeaders } from 'node:http';

/** More fields than any operation has parameters. */
const MAX_FIELDS = 32;

/**
 * The fields of a multipart form (RFC 7578), as `curl -F` sends it. Files are
 * no parameters, as in the reference.
 *
 * @throws Error when the body is no such form.
 */
export function readMultipart(request: {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}): Promise<readonly [string, string][]> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = [];
    const parser = new Busboy({
      headers: { 'content-type': request.headers['content-type'] ?? '' },
      limits: {
        fields: MAX_FIELDS,
        fieldSize: request.body.length,
        files: 0,
      },
    });
    parser.on('field', (name, value) => fields.push([name, value]));
    parser.once('error', reject);
    parser.once('finish', () => resolve(fields));
    parser.end(request.body);
  });
}
