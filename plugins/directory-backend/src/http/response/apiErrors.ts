import type { KerberosRefusalReason } from '@directory-gateway/kerberos';
import { CustomErrorBase } from '@backstage/errors';
import { rawInteger } from './json';

/** Longer than the LDAP pool takes to detect that a server is available. */
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
export abstract class ApiError
  extends CustomErrorBase
  implements ErrorResponse
{
  abstract readonly status: number;
  readonly body: ErrorBody;

  constructor(body: ErrorBody) {
    super(body.message);
    this.body = body;
  }

  get headers(): Readonly<Record<string, string>> {
    return {};
  }
}

/** 400: the request is invalid. */
export class InvalidRequestError extends ApiError {
  name = 'InvalidRequestError' as const;
  readonly status = 400;
}

/** Why a caller was not authenticated. */
export type UnauthorizedReason =
  | KerberosRefusalReason
  | 'unknown_principal'
  | 'account_locked'
  | 'account_expired';

/** 401: no credentials, invalid ones, or an account that is not active. */
export class UnauthorizedError extends ApiError {
  name = 'UnauthorizedError' as const;
  readonly status = 401;
  readonly reason: UnauthorizedReason;

  constructor(reason: UnauthorizedReason) {
    super({
      message: 'Unauthorized. You need to be logged in.',
      reason,
    });
    this.reason = reason;
  }

  /**
   * After a rejected token, Negotiate is not offered again: a browser would
   * retry forever. After a replayed one, the client can send a new token.
   */
  override get headers(): Readonly<Record<string, string>> {
    return this.reason === 'no_credentials' || this.reason === 'replayed'
      ? { 'WWW-Authenticate': 'Negotiate' }
      : {};
  }
}

/** 403: the caller lacks a permission. */
export class ForbiddenError extends ApiError {
  name = 'ForbiddenError' as const;
  readonly status = 403;
}

/** 404: the directory does not have the resource. */
export class ResourceNotFoundError extends ApiError {
  name = 'ResourceNotFoundError' as const;
  readonly status = 404;
}

/** 404: the API does not have the path. */
export class UnknownPathError extends ApiError {
  name = 'UnknownPathError' as const;
  readonly status = 404;

  constructor() {
    super({ message: 'The requested URL was not found on the server.' });
  }
}

/** 405: the path does not support the method. */
export class MethodNotAllowedError extends ApiError {
  name = 'MethodNotAllowedError' as const;
  readonly status = 405;
  readonly #allow: string;

  constructor(allow: string) {
    super({ message: 'The method is not allowed for the requested URL.' });
    this.#allow = allow;
  }

  override get headers(): Readonly<Record<string, string>> {
    return { Allow: this.#allow };
  }
}

/** 503: a required service is temporarily unavailable. */
export class UnavailableError extends ApiError {
  name = 'UnavailableError' as const;
  readonly status = 503;

  override get headers(): Readonly<Record<string, string>> {
    return { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  }
}

/** 504: the directory exceeded the configured time. */
export class SlowError extends ApiError {
  name = 'SlowError' as const;
  readonly status = 504;
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

/** 413: the body is too large. */
export class ContentTooLargeError extends ApiError {
  name = 'ContentTooLargeError' as const;
  readonly status = 413;
}

/** 415: the content encoding of the body is not supported. */
export class UnsupportedEncodingError extends ApiError {
  name = 'UnsupportedEncodingError' as const;
  readonly status = 415;

  /** RFC 9110 §15.5.16. */
  override get headers(): Readonly<Record<string, string>> {
    return { 'Accept-Encoding': 'gzip, deflate' };
  }
}

/** 429: the caller exceeded a rate limit. */
export class TooManyRequestsError extends ApiError {
  name = 'TooManyRequestsError' as const;
  readonly status = 429;
  readonly #retryAfterSeconds: number;

  constructor(retryAfterMs: number) {
    super({ message: 'Too many requests. Try again later.' });
    this.#retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  }

  override get headers(): Readonly<Record<string, string>> {
    return { 'Retry-After': String(this.#retryAfterSeconds) };
  }
}

/** 502: an invalid response of the CA. */
export class BadGatewayError extends ApiError {
  name = 'BadGatewayError' as const;
  readonly status = 502;
}
