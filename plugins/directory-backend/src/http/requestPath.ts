import type { Request } from 'express';

/**
 * The URL of a request with every path segment decodable. Express responds 400
 * to a segment such as `%ff` before it matches a route. Encoded as text, the
 * segment reaches its route, where it is not a valid name and gets the
 * resource's 404.
 */
export function decodablePath(url: string): string {
  const [path, ...query] = url.split('?');
  const segments = path.split('/').map(segment => {
    try {
      decodeURIComponent(segment);
      return segment;
    } catch {
      return encodeURIComponent(segment);
    }
  });
  return [segments.join('/'), ...query].join('?');
}

/** Scheme and host of a request target in absolute form (RFC 9112 §3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?]*/i;

/**
 * Path and query of a request below the mount path, with the slashes that the
 * client sent: of several slashes after its mount path, Express removes one.
 */
export function pathBelowMount(
  request: Pick<Request, 'originalUrl' | 'baseUrl' | 'url'>,
): string {
  const path = request.url.replace(ORIGIN, '');
  const isSlashRemoved = request.originalUrl.endsWith(
    `${request.baseUrl}/${path}`,
  );
  return isSlashRemoved ? `/${path}` : path;
}

/** A URL with each run of slashes in its path merged; `%2F` is kept. */
export function mergeSlashes(url: string): string {
  const [path, ...query] = url.split('?');
  return [path.replace(/\/{2,}/g, '/'), ...query].join('?');
}
