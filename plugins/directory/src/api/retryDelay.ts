import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';

/** What to wait when the server does not say, in seconds. */
const DEFAULT_DELAY = 15;

/**
 * After how many milliseconds it makes sense to ask again; `undefined` when the
 * answer would be the same (refused, not found) or there was no failure.
 */
export function retryDelay(error: unknown): number | undefined {
  if (!error) {
    return undefined;
  }
  if (!isDirectoryResponseError(error)) {
    return DEFAULT_DELAY * 1000; // no answer at all
  }
  const mayPass = error.status >= 500 || error.status === 429;
  return mayPass ? (error.retryAfter ?? DEFAULT_DELAY) * 1000 : undefined;
}
