import type { KerberosRefusalReason } from '@directory-gateway/kerberos';
import { CustomErrorBase } from '@backstage/errors';
import { rawInteger } from './json';

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

/** The 404 of a certificate, with its serial number. */
export function certificateNotFound(
  serialNumber: bigint,
): ResourceNotFoundError {
  return new ResourceNotFoundError({
    message: 'Certificate not found',
    serial_number: rawInteger(serialNumber),
  });
}
