import { CustomErrorBase } from '@backstage/errors';

/**
 * The directory cannot be asked now, or refuses to answer whole: 503 for the
 * caller. The message is for the log only.
 */
export class DirectoryUnavailableError extends CustomErrorBase {
  name = 'DirectoryUnavailableError' as const;
}

/**
 * The directory took longer than the configured time: 504 for the caller. The
 * message is for the log only.
 */
export class DirectoryTimeoutError extends CustomErrorBase {
  name = 'DirectoryTimeoutError' as const;
}
