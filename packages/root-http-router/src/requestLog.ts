import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Request, RequestHandler } from 'express';

/** Options of {@link requestLog}. */
export interface RequestLogOptions {
  /** Receives a record per request: `info`, but `debug` for health checks. */
  logger: LoggerService;
}

/**
 * Express middleware that logs each request when its connection is done with
 * it: method, path, status, duration in milliseconds and bytes sent.
 *
 * The query is left out, and so are `Referer` and anything else that may repeat
 * it: certificate requests may be sent in the query string and searches carry
 * e-mail addresses. Backstage's own log records the whole URL.
 */
export function requestLog({ logger }: RequestLogOptions): RequestHandler {
  return (req, res, next) => {
    const started = performance.now();
    const { method, socket } = req;
    const path = pathOf(req);
    const sentBefore = socket.bytesWritten;

    // 'close' rather than 'finish': it also comes when the client has gone away.
    res.once('close', () => {
      const status = res.statusCode;
      const durationMs = Math.round(performance.now() - started);
      // Measured on the socket, headers included, because a compressed or
      // streamed response has no Content-Length.
      const bytes = socket.bytesWritten - sentBefore;
      const aborted = !res.writableFinished;
      // Probes come every few seconds and say nothing at `info`.
      const level = path.startsWith('/.backstage/health/') ? 'debug' : 'info';
      logger[level](
        `${method} ${path} ${status} ${durationMs} ms ${bytes} bytes${
          aborted ? ' (aborted)' : ''
        }`,
        {
          type: 'incomingRequest',
          method,
          path,
          status,
          durationMs,
          bytes,
          aborted,
        },
      );
    });
    next();
  };
}

/**
 * The request target up to its query (RFC 9112 §3.2), still percent-encoded, so
 * that no path can forge a second log line.
 */
function pathOf(req: Request): string {
  const [path] = req.originalUrl.split('?', 1);
  return path;
}
