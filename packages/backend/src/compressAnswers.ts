import compression, { type CompressionOptions } from 'compression';
import type { RequestHandler } from 'express';

/**
 * What a server may send before the first acknowledgement (RFC 6928): an
 * answer of this size or less is there no sooner for being compressed.
 */
const FIRST_FLIGHT_BYTES = 14_600;

/**
 * Express middleware that compresses what is worth it. Answers of an API are
 * made for one request: only large ones are compressed, and quickly. With the
 * pages' files, which browsers keep, it is thorough.
 */
export function compressAnswers(): RequestHandler {
  const ofApi = handler({ threshold: FIRST_FLIGHT_BYTES, level: 1 });
  const ofPages = handler();
  return (req, res, next) => {
    const compress = req.path.startsWith('/api/') ? ofApi : ofPages;
    compress(req, res, next);
  };
}

/** Its types are of Express 5, and what it does is the same with 4. */
function handler(options?: CompressionOptions): RequestHandler {
  return compression(options) as unknown as RequestHandler;
}
