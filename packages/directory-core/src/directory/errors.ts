import { CustomErrorBase } from '@backstage/errors';

/** Whether at least one server of the directory can be searched. */
export type Reachability =
  /** At least one server is in use. */
  | 'reachable'
  /** No server responds. */
  | 'unreachable'
  /** No server is in use, and one of them refused the service account. */
  | 'refused';

/** Why the directory is unavailable. */
export type UnavailableReason =
  /** No server could be connected to, or the connection failed. */
  | 'unreachable'
  /** The directory refused the service account's credentials. */
  | 'refused'
  /** The service account lacks a right, or the schema lacks an attribute. */
  | 'accessCheck'
  /** A sync deletes too many entries. */
  | 'quarantine'
  /** The baseline of the mass-deletion guard cannot be read. */
  | 'database'
  /** The replica is older than `directory.replica.maxStaleness`. */
  | 'stale'
  /** The first sync has not finished. */
  | 'starting'
  /** The directory's response is an error or incomplete. */
  | 'response';

/**
 * The directory is unavailable, or its response is an error or incomplete: 503
 * for the caller. The message is for the log only.
 */
export class DirectoryUnavailableError extends CustomErrorBase {
  name = 'DirectoryUnavailableError' as const;
  readonly reason: UnavailableReason;

  constructor(
    message: string,
    options: {
      readonly cause?: unknown;
      /** Default: `response`. */
      readonly reason?: UnavailableReason;
    } = {},
  ) {
    super(message, options.cause);
    this.reason = options.reason ?? 'response';
  }
}

/**
 * The directory exceeded the configured time: 504 for the caller. The message
 * is for the log only.
 */
export class DirectoryTimeoutError extends CustomErrorBase {
  name = 'DirectoryTimeoutError' as const;
}

/** Several portal users have the username annotation of the same user. */
export class AmbiguousPortalUserError extends CustomErrorBase {
  name = 'AmbiguousPortalUserError' as const;
}
