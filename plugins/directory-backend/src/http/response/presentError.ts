import type { LoggerService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import type { ErrorRequestHandler } from 'express';
import { randomUUID } from 'node:crypto';
import {
  ApiError,
  SlowError,
  UnavailableError,
  type ErrorBody,
} from './apiErrors';

/**
 * Ends every path of the API: answers an error with the contract's body, and
 * keeps in the log what is not for the caller. Both carry the same
 * `request_id`.
 */
export function presentError(options: {
  readonly logger: LoggerService;
}): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent || req.destroyed || res.destroyed) {
      // Nobody is left to answer, or the answer is already under way.
      next(error);
      return;
    }
    const requestId = randomUUID();
    const refusal = toApiError(error);
    if (!(error instanceof ApiError)) {
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
    res
      .status(refusal?.status ?? 500)
      .set(refusal?.headers ?? {})
      .json(body);
  };
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) {
    return error;
  }
  switch (isError(error) ? error.name : undefined) {
    case 'DirectoryUnavailableError':
      return new UnavailableError({
        message: 'The directory is not available. Try again later.',
      });
    case 'DirectoryTimeoutError':
      return new SlowError({
        message: 'The directory took too long to answer.',
      });
    default:
      return undefined;
  }
}

/** Says what happened and, of what was not expected, where. */
function describe(error: unknown): string {
  if (!isError(error)) {
    return 'an unknown value was thrown';
  }
  if (error.name.startsWith('Directory')) {
    const cause = isError(error.cause) ? `: ${error.cause.message}` : '';
    return `${error.message}${cause}`;
  }
  return error.stack ?? error.message;
}
