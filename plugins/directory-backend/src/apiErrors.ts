import { CustomErrorBase, isError } from '@backstage/errors';
import type { AuthorityRefusalError } from '@directory-gateway/backstage-plugin-directory-node';
import type { KerberosRefusalReason } from '@directory-gateway/kerberos';
import type {
  CertificateRefusedError,
  SigningLimitExceededError,
  SigningRefusedError,
} from './certificates/errors';

/** The LDAP pool detects within this time that a server is available. */
const RETRY_AFTER_SECONDS = 5;

/** Body of an error response, without the request id. */
export interface ErrorBody {
  readonly message: string;
  readonly [context: string]: unknown;
}

/** An error response. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

/** An error with its response. */
export class ApiError extends CustomErrorBase implements ErrorResponse {
  name = 'ApiError';
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: ErrorBody,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(body.message);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** 400: the request is invalid. */
export class InvalidRequestError extends ApiError {
  name = 'InvalidRequestError';

  constructor(body: ErrorBody) {
    super(400, body);
  }
}

/** Why a caller was not authenticated. */
type UnauthorizedReason =
  | KerberosRefusalReason
  | 'unknown_principal'
  | 'account_locked'
  | 'account_expired';

/** 401: no credentials, invalid ones, or an account that is not active. */
export class UnauthorizedError extends ApiError {
  name = 'UnauthorizedError';

  constructor(reason: UnauthorizedReason) {
    // After a rejected token, Negotiate is not offered again: a browser would
    // retry forever. After a replayed one, the client can send a new token.
    const isOffered = reason === 'no_credentials' || reason === 'replayed';
    super(
      401,
      { message: 'Unauthorized. You need to be logged in.', reason },
      isOffered ? { 'WWW-Authenticate': 'Negotiate' } : {},
    );
  }
}

/** 403: the caller lacks a permission. */
export class ForbiddenError extends ApiError {
  name = 'ForbiddenError';

  constructor(body: ErrorBody) {
    super(403, body);
  }
}

/** 404: the directory does not have the resource. */
export class ResourceNotFoundError extends ApiError {
  name = 'ResourceNotFoundError';

  constructor(body: ErrorBody) {
    super(404, body);
  }
}

/** 404: the API does not have the path. */
export class UnknownPathError extends ApiError {
  name = 'UnknownPathError';

  constructor() {
    super(404, { message: 'The requested URL was not found on the server.' });
  }
}

/** 503: a required service is temporarily unavailable. */
export class UnavailableError extends ApiError {
  name = 'UnavailableError';

  constructor(message: string) {
    super(503, { message }, { 'Retry-After': String(RETRY_AFTER_SECONDS) });
  }
}

/** The 400 of a search without a term. */
export function noSearchTerm(): InvalidRequestError {
  return new InvalidRequestError({
    message: 'At least one search term must be provided.',
  });
}

/** The 400 of a search whose `page_size` is a number outside 1 to `max`. */
export function searchPageSizeOutOfRange(
  max: number,
  size: unknown,
): InvalidRequestError {
  return new InvalidRequestError({
    message: `Page size must be between 1 and ${max} when searching.`,
    page_size: size,
  });
}

/** The 404 of a user, with the name as requested. */
export function userNotFound(name: string): ResourceNotFoundError {
  return new ResourceNotFoundError({ message: 'User not found', name });
}

/** The 404 of a group, with the name as requested. */
export function groupNotFound(groupname: string): ResourceNotFoundError {
  return new ResourceNotFoundError({ message: 'Group not found', groupname });
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
  CertificateRefusedError: error => {
    const { message, reason } = error as CertificateRefusedError;
    return new ForbiddenError({ message, ...(reason && { reason }) });
  },
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
