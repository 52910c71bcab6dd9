import { ResultCodeError } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../../directory/errors';

/** Result codes of RFC 4511 that mean "this took too long". */
const TIME_LIMIT_EXCEEDED = 3;

/**
 * Converts an error of the LDAP library. Everything except a time limit is
 * "unavailable": a refused or incomplete response (`sizeLimitExceeded`,
 * `adminLimitExceeded`, `busy`, …) must never read as "not found" or as an
 * empty list.
 *
 * {@link isNoSuchObject} recognizes the one result code that is a result.
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
  if (error instanceof ResultCodeError && error.code === TIME_LIMIT_EXCEEDED) {
    return new DirectoryTimeoutError(
      'The directory gave up at its time limit',
      error,
    );
  }
  return error instanceof ResultCodeError
    ? new DirectoryUnavailableError(
        `The directory returned result code ${error.code}`,
        { cause: error, reason: isAnswer(error) ? 'response' : 'unreachable' },
      )
    : new DirectoryUnavailableError('The directory is unreachable', {
        cause: error,
        reason: 'unreachable',
      });
}

const NO_SUCH_OBJECT = 32;

/** Whether the search base does not exist (RFC 4511 §4.1.9). */
export function isNoSuchObject(error: unknown): boolean {
  return (
    error instanceof DirectoryUnavailableError &&
    error.reason === 'response' &&
    error.cause instanceof ResultCodeError &&
    error.cause.code === NO_SUCH_OBJECT
  );
}

/**
 * Whether the connection or its server failed, so that the same read may be
 * answered by another connection. A result code is an answer and stays.
 */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof DirectoryUnavailableError && !isAnswer(error.cause);
}

/** Whether a server that should be connected to has not answered in time. */
export function isConnectTimeout(error: unknown): boolean {
  return (
    error instanceof DirectoryUnavailableError &&
    error.cause instanceof DirectoryTimeoutError
  );
}

/**
 * Whether an error speaks against the server. A time limit that the server has
 * kept to by itself does not: it lives.
 */
export function isServerFailure(error: unknown): boolean {
  return (
    isConnectionFailure(error) ||
    (error instanceof DirectoryTimeoutError && !isAnswer(error.cause))
  );
}

/**
 * Result codes of a bind that mean that the account may not bind: wrong
 * password (49, 48), disabled (53), locked by the password policy (19), deleted
 * (32), or not allowed to bind in this way (8, 13, 50).
 */
const REFUSED_BIND = new Set([8, 13, 19, 32, 48, 49, 50, 53]);

/** Converts an error of a bind; `refused` is the reason of a refused one. */
export function toBindError(
  error: unknown,
): DirectoryUnavailableError | DirectoryTimeoutError {
  return error instanceof ResultCodeError && REFUSED_BIND.has(error.code)
    ? new DirectoryUnavailableError(
        `The directory refused the service account with result code ${error.code}`,
        { cause: error, reason: 'refused' },
      )
    : toDirectoryError(error);
}

/** Whether a server refused the service account's credentials. */
export function isRejectedBind(error: unknown): boolean {
  return causesOf(error).some(
    cause =>
      cause instanceof DirectoryUnavailableError && cause.reason === 'refused',
  );
}

function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

function isAnswer(error: unknown): boolean {
  return error instanceof ResultCodeError && !isServerGoing(error);
}

/** `busy`, `unavailable`: the server itself says "not now, not here". */
function isServerGoing(error: ResultCodeError): boolean {
  return error.code === 51 || error.code === 52;
}
