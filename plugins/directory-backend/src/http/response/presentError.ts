import type { LoggerService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import type { ErrorRequestHandler, Request } from 'express';
import { randomUUID } from 'node:crypto';
import type { Dialect } from '../api/Dialect';
import { ApiError, type ErrorBody } from './apiErrors';
import { sendJson } from './json';

/**
 * Handles every error of the API: responds as the dialect does and logs what is
 * not for the caller, both with the same `request_id`. Errors of requests that
 * the client aborted are logged at debug level.
 */
export function presentError(options: {
  readonly logger: LoggerService;
  readonly dialectOf: (req: Request) => Dialect;
}): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.destroyed || error?.type === 'request.aborted') {
      options.logger.debug(
        `A request was aborted by its client: ${describe(error)}`,
      );
      return;
    }
    if (res.headersSent) {
      next(error);
      return;
    }
    const requestId = randomUUID();
    const dialect = options.dialectOf(req);
    const refusal = dialect.presentError(error);
    const status = refusal?.status ?? 500;
    if (!(error instanceof ApiError) && status >= 500) {
      const log = refusal ? options.logger.warn : options.logger.error;
      log.call(
        options.logger,
        `Request ${requestId} failed: ${describe(error)}`,
      );
    }
    const body: ErrorBody = {
      ...(refusal?.body ?? { message: 'Internal server error' }),
      request_id: requestId,
    };
    res.status(status).set(refusal?.headers ?? {});
    sendJson(res, { body, contentType: dialect.contentType });
  };
}

/** Says what happened and, of what was not expected, where. */
function describe(error: unknown): string {
  if (!isError(error)) {
    return 'an unknown value was thrown';
  }
  if (/^(Directory|Authority|Outcome)/.test(error.name)) {
    const cause = isError(error.cause) ? `: ${error.cause.message}` : '';
    return `${error.message}${cause}`;
  }
  return error.stack ?? error.message;
}
