import { ResultCodeError } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
  type UnavailableReason,
} from '@directory-gateway/directory-core';

/** Result codes (RFC 4511 §4.1.9). */
const TIME_LIMIT_EXCEEDED = 3;
const NO_SUCH_OBJECT = 32;
const BUSY = 51;
const UNAVAILABLE = 52;

/**
 * Result codes of a bind that mean that the account may not bind: wrong
 * password (49, 48), disabled (53), locked by the password policy (19), deleted
 * (32), or not allowed to bind with this method (8, 13, 50).
 */
const REJECTED_BIND = new Set([8, 13, 19, 32, 48, 49, 50, 53]);

/** Creates the error for a failed connection. */
export function unreachable(
  message: string,
  cause?: unknown,
): DirectoryUnavailableError {
  return new DirectoryUnavailableError(message, {
    cause,
    reason: 'unreachable',
  });
}

/**
 * Converts an error of ldapts. Everything except a time limit means
 * "unavailable": a refused or incomplete response (`sizeLimitExceeded`,
 * `adminLimitExceeded`, `busy`, …) must never be read as "not found" or as an
 * empty list.
 *
 * {@link isNoSuchObject} recognizes the only error code that is a result.
 */
export function toDirectoryError(
  error: unknown,
): DirectoryUnavailableError | DirectoryTimeoutError {
  if (
    error instanceof DirectoryUnavailableError ||
    error instanceof DirectoryTimeoutError
  ) {
    return error;
  }
  if (!(error instanceof ResultCodeError)) {
    return unreachable('The directory is unreachable', error);
  }
  const message = `The directory returned result code ${error.code}`;
  switch (error.code) {
    case TIME_LIMIT_EXCEEDED:
      return new DirectoryTimeoutError(message, error);
    // The server asks the client to try another server.
    case BUSY:
    case UNAVAILABLE:
      return unreachable(message, error);
    default:
      return new DirectoryUnavailableError(message, {
        cause: error,
        reason: 'response',
      });
  }
}

/** Converts an error of a bind. A rejected bind has the reason `refused`. */
export function toBindError(
  error: unknown,
): DirectoryUnavailableError | DirectoryTimeoutError {
  return error instanceof ResultCodeError && REJECTED_BIND.has(error.code)
    ? new DirectoryUnavailableError(
        `The directory refused the service account with result code ${error.code}`,
        { cause: error, reason: 'refused' },
      )
    : toDirectoryError(error);
}

/** Converts an error of a connection attempt. */
export function toConnectError(
  url: string,
  error: unknown,
): DirectoryUnavailableError {
  return new DirectoryUnavailableError(`Could not connect and bind to ${url}`, {
    cause: toDirectoryError(error),
    reason: isRejectedBind(error) ? 'refused' : 'unreachable',
  });
}

/** Returns whether the base of a search does not exist. */
export function isNoSuchObject(error: unknown): boolean {
  return (
    isUnavailable(error, 'response') &&
    error.cause instanceof ResultCodeError &&
    error.cause.code === NO_SUCH_OBJECT
  );
}

/** Returns whether a server rejected the service account's credentials. */
export function isRejectedBind(error: unknown): boolean {
  return isUnavailable(error, 'refused');
}

/**
 * Returns whether the connection or its server failed, so that the search may
 * succeed on another connection.
 */
export function isConnectionFailure(error: unknown): boolean {
  return isRejectedBind(error) || isUnavailable(error, 'unreachable');
}

/** Returns whether a server did not respond to a connection attempt in time. */
export function isConnectTimeout(error: unknown): boolean {
  return (
    isUnavailable(error, 'unreachable') &&
    error.cause instanceof DirectoryTimeoutError
  );
}

function isUnavailable(
  error: unknown,
  reason: UnavailableReason,
): error is DirectoryUnavailableError {
  return error instanceof DirectoryUnavailableError && error.reason === reason;
}
