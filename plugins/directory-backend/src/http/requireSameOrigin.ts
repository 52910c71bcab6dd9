import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../directory/Caller';
import { ForbiddenError } from './response/apiErrors';

/**
 * Keeps other sites from writing or exporting with a visitor's ticket. A browser sends a
 * ticket by itself, wherever the page comes from, and says where that is; a
 * program that says nothing (curl) is nobody's page. A portal token is never
 * sent by itself.
 *
 * @throws ForbiddenError when the browser says that the page is foreign.
 */
export function requireSameOrigin(options: {
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  /** Of the portal, for example `https://portal.example.org`. */
  readonly ownOrigin: string;
}): void {
  const { caller, headers, ownOrigin } = options;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn =
    (origin === undefined || origin === ownOrigin) &&
    // `none` is a person's own doing: an address typed in, a bookmark.
    (site === undefined || site === 'same-origin' || site === 'none');
  if (caller.kind === 'kerberos' && !isOwn) {
    throw new ForbiddenError({
      message: 'Requests of other sites are refused.',
    });
  }
}
