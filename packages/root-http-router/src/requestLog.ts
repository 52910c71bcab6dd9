import type { LoggerService } from '@backstage/backend-plugin-api';
import type { RequestHandler } from 'express';

/**
 * Express middleware that logs each request when its response has been sent or
 * aborted: method, path, status, duration in milliseconds and bytes sent. The
 * level is `info`, and `debug` for health checks.
 *
 * It does not log the query string or headers that may repeat it, such as
 * `Referer`: the query string may contain certificate requests and e-mail
 * addresses. Backstage's own request log contains the complete URL.
 */
export function requestLog({
  logger,
}: {
  readonly logger: LoggerService;
}): RequestHandler {
  return (req, res, next) => {
    const started = performance.now();
    const { method, socket } = req;
    // Still percent-encoded, so that a path cannot add lines to the log.
    const [path] = req.originalUrl.split('?', 1);
    const sentBefore = socket.bytesWritten;

    // 'close' rather than 'finish': it is also emitted when the client aborts.
    res.once('close', () => {
      const status = res.statusCode;
      const durationMs = Math.round(performance.now() - started);
      // Measured on the socket, because a compressed or streamed response has
      // no Content-Length.
      const bytes = socket.bytesWritten - sentBefore;
      const aborted = !res.writableFinished;
      const level = path.startsWith('/.backstage/health/') ? 'debug' : 'info';
      const type = 'incomingRequest';
      logger[level](
        `${method} ${path} ${status} ${durationMs} ms ${bytes} bytes${
          aborted ? ' (aborted)' : ''
        }`,
        { type, method, path, status, durationMs, bytes, aborted },
      );
    });
    next();
  };
}
