import { ResultCodeError } from 'ldapts';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
} from '../directory/errors';

/** Result codes of RFC 4511 that mean "this took too long". */
const TIME_LIMIT_EXCEEDED = 3;

/**
 * What an error of the library means for whoever asked. Everything that is not
 * a time limit is "unavailable": an answer that the server refused or cut
 * short (`sizeLimitExceeded`, `adminLimitExceeded`, `busy`, …) must never read
 * as "not found" or as an empty list.
 *
 * `noSuchObject` is the one refusal that is an answer; {@link isNoSuchObject}
 * asks for it on the cause.
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
  const reason =
    error instanceof ResultCodeError
      ? `answered with result code ${error.code}`
      : 'is out of reach';
  return new DirectoryUnavailableError(`The directory ${reason}`, error);
}

const NO_SUCH_OBJECT = 32;

/** Whether the search base does not exist (RFC 4511 §4.1.9). */
export function isNoSuchObject(error: unknown): boolean {
  return (
    error instanceof DirectoryUnavailableError &&
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

const INVALID_CREDENTIALS = 49;

/** Whether a server that could be connected to refused name and password. */
export function isRefusedBind(error: unknown): boolean {
  return causesOf(error).some(
    cause =>
      cause instanceof ResultCodeError && cause.code === INVALID_CREDENTIALS,
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
