import type { LoggerService } from '@backstage/backend-plugin-api';
import { isError } from '@backstage/errors';
import type { AuthorityRefusalError } from '@directory-gateway/backstage-plugin-directory-node';
import type { ErrorRequestHandler, Request } from 'express';
import { randomUUID } from 'node:crypto';
import type {
  SigningLimitExceededError,
  SigningRefusedError,
} from '../../certificates/errors';
import {
  ApiError,
  type ErrorBody,
  type ErrorResponse,
  ForbiddenError,
  InvalidRequestError,
  UnauthorizedError,
  UnavailableError,
} from './apiErrors';
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

/** Responses to errors of the domain and of Express, by name. */
const presenters: Readonly<
  Record<string, ((error: Error) => ApiError) | undefined>
> = {
  DirectoryUnavailableError: () =>
    new UnavailableError('The directory is not available. Try again later.'),
  DirectoryTimeoutError: () =>
    new ApiError(504, { message: 'The directory did not respond in time.' }),
  AmbiguousPortalUserError: () => new UnauthorizedError('unknown_principal'),
  SigningRefusedError: error => {
    const { rule, message, denial } = (error as SigningRefusedError).failedRule;
    return denial === 'forbidden'
      ? new ForbiddenError({ message, rule })
      : new InvalidRequestError({ message, rule });
  },
  SigningLimitExceededError: error => {
    const { retryAfterMs } = error as SigningLimitExceededError;
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
    return new ApiError(
      429,
      { message: 'Too many requests. Try again later.' },
      { 'Retry-After': String(seconds) },
    );
  },
  ChangeLogUnavailableError: () =>
    new UnavailableError('The change log is not available. Try again later.'),
  PolicyUnavailableError: () =>
    new UnavailableError(
      'The permission policy is not available. Try again later.',
    ),
  TooManyCertificatesError: ({ message }) => new ForbiddenError({ message }),
  RenewalRefusedError: ({ message }) => new ForbiddenError({ message }),
  FreshProofRequiredError: ({ message }) =>
    new ForbiddenError({ message, reason: 'recent_sign_in_required' }),
  PortalTokenRequiredError: ({ message }) => new ForbiddenError({ message }),
  AuthorityRefusalError: error => {
    const { kind, message } = error as AuthorityRefusalError;
    return kind === 'forbidden'
      ? new ForbiddenError({ message })
      : new InvalidRequestError({ message });
  },
  AuthorityUnavailableError: () =>
    new UnavailableError(
      'The certificate authority is not available. Try again later.',
    ),
  OutcomeUnknownError: () =>
    new UnavailableError(
      'The outcome is unknown: a certificate may have been issued. Look for it before you try again.',
    ),
  AuthorityProtocolError: () =>
    new ApiError(502, {
      message: 'The certificate authority returned an invalid response.',
    }),
  PayloadTooLargeError: () =>
    new ApiError(413, { message: 'The request is larger than 64 KiB.' }),
  UnsupportedMediaTypeError: () =>
    new ApiError(
      415,
      {
        message: 'The content encoding is not supported. Use gzip or deflate.',
      },
      // RFC 9110 §15.5.16.
      { 'Accept-Encoding': 'gzip, deflate' },
    ),
};

/** The response to an error; `undefined` for an internal error. */
export function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) {
    return error;
  }
  if (!isError(error)) {
    return undefined;
  }
  const present = presenters[error.name];
  if (!present && isUnreadableBody(error)) {
    return new InvalidRequestError({ message: 'The body cannot be read.' });
  }
  return present?.(error);
}

/** How Express's body parser reports a truncated or corrupt body. */
function isUnreadableBody(error: Error): boolean {
  const { status, expose } = error as { status?: unknown; expose?: unknown };
  return status === 400 && expose === true;
}
