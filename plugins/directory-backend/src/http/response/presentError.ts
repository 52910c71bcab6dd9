import type { LoggerService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import type { ErrorRequestHandler } from 'express';
import { randomUUID } from 'node:crypto';
import type { AuthorityRefusalError } from '@directory-gateway/backstage-plugin-directory-node';
import type { SigningRefusedError } from '../../certificates/SigningRefusedError';
import {
  ApiError,
  BadGatewayError,
  ContentTooLargeError,
  ForbiddenError,
  InvalidRequestError,
  SlowError,
  UnavailableError,
  type ErrorBody,
} from './apiErrors';

/** How the errors of the rooms below become answers, by their names. */
const presenters: Readonly<
  Record<string, ((error: Error) => ApiError) | undefined>
> = {
  DirectoryUnavailableError: () =>
    new UnavailableError({
      message: 'The directory is not available. Try again later.',
    }),
  DirectoryTimeoutError: () =>
    new SlowError({ message: 'The directory took too long to answer.' }),
  SigningRefusedError: error => {
    const { rule, message, refusal } = (error as SigningRefusedError).verdict;
    return refusal === 'forbidden'
      ? new ForbiddenError({ message, rule })
      : new InvalidRequestError({ message, rule });
  },
  AuthorityRefusalError: error =>
    (error as AuthorityRefusalError).kind === 'forbidden'
      ? new ForbiddenError({ message: error.message })
      : new InvalidRequestError({ message: error.message }),
  AuthorityUnavailableError: () =>
    new UnavailableError({
      message: 'The certificate authority is not available. Try again later.',
    }),
  OutcomeUnknownError: () =>
    new UnavailableError({
      message:
        'The outcome is unknown: a certificate may have been issued. Look for it before asking again.',
    }),
  AuthorityProtocolError: () =>
    new BadGatewayError({
      message: 'The certificate authority gave no proper answer.',
    }),
  PayloadTooLargeError: () =>
    new ContentTooLargeError({ message: 'The request is larger than 64 KiB.' }),
};

/**
 * Ends every path of the API: answers an error with the contract's body, and
 * keeps in the log what is not for the caller. Both carry the same
 * `request_id`.
 */
export function presentError(options: {
  readonly logger: LoggerService;
}): ErrorRequestHandler {
  return (error, _req, res, next) => {
    if (res.headersSent || res.destroyed) {
      // Nobody is left to answer, or the answer is already under way.
      next(error);
      return;
    }
    const requestId = randomUUID();
    const refusal = toApiError(error);
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
    res
      .status(status)
      .set(refusal?.headers ?? {})
      .json(body);
  };
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) {
    return error;
  }
  const present = isError(error) ? presenters[error.name] : undefined;
  return present?.(error as Error);
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
