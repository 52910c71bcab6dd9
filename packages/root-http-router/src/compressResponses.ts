import compression, { type CompressionOptions } from 'compression';
import type { RequestHandler } from 'express';

/**
 * Bytes that a server may send before the first acknowledgment (RFC 6928).
 * Compressing a response of this size or less does not deliver it sooner.
 */
const INITIAL_WINDOW_BYTES = 14_600;

/**
 * Express middleware that compresses responses. API responses are made for one
 * request: only large ones are compressed, at the fastest level. Files of the
 * pages, which browsers cache, are compressed at the default level.
 */
export function compressResponses(): RequestHandler {
  const compressApi = handler({ threshold: INITIAL_WINDOW_BYTES, level: 1 });
  const compressPages = handler();
  return (req, res, next) => {
    const compress = req.path.startsWith('/api/') ? compressApi : compressPages;
    compress(req, res, next);
  };
}

/** Its types are those of Express 5; it works with Express 4 as well. */
function handler(options?: CompressionOptions): RequestHandler {
  return compression(options) as unknown as RequestHandler;
}
