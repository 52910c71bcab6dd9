import type { LoggerService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import type { ErrorRequestHandler, Request } from 'express';
import { randomUUID } from 'node:crypto';
import { ApiError, type ErrorBody, type ErrorResponse } from '../../apiErrors';
import { sendJson } from './json';

/**
 * Creates the error handler of the API. It responds in the dialect and logs
 * server errors, both with the same `request_id`. Errors of requests that the
 * client aborted are logged at debug level.
 */
export function presentError(options: {
  readonly logger: LoggerService;
  readonly dialectOf: (req: Request) => {
    readonly contentType: string;
    presentError(error: unknown): ErrorResponse | undefined;
  };
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
    const response = dialect.presentError(error);
    const status = response?.status ?? 500;
    if (!(error instanceof ApiError) && status >= 500) {
      const log = response ? options.logger.warn : options.logger.error;
      log.call(
        options.logger,
        `Request ${requestId} failed: ${describe(error)}`,
      );
    }
    const body: ErrorBody = {
      ...(response?.body ?? { message: 'Internal server error' }),
      request_id: requestId,
    };
    res.status(status).set(response?.headers ?? {});
    sendJson(res, { body, contentType: dialect.contentType });
  };
}

/** Returns the message and cause of an expected error; the stack of others. */
function describe(error: unknown): string {
  if (!isError(error)) {
    return 'an unknown value was thrown';
  }
  if (/^(Directory|Authority|Outcome|ChangeLog|Policy)/.test(error.name)) {
    const cause = isError(error.cause) ? `: ${error.cause.message}` : '';
    return `${error.message}${cause}`;
  }
  return error.stack ?? error.message;
}
