import { NoResultError } from '../rpc/errors';
import type { HttpsResponse } from '../rpc/HttpsClient';

/**
 * Reads the session in the response to a login, as a value of the `Cookie`
 * header: `ipa_session=MagBearerToken=…`.
 *
 * @param options - `server`: origin of the server
 * @throws NoResultError when there is none.
 */
export function readSession(options: {
  readonly server: string;
  readonly response: HttpsResponse;
}): string {
  const { server, response } = options;
  const { status, headers } = response;
  if (status !== 200) {
    const reason = headers.get('x-ipa-rejection-reason') ?? 'no reason given';
    throw new NoResultError(`login failed with status ${status} (${reason})`, {
      server,
      executed: 'no',
      // Another server may accept the ticket.
      fault: status === 401 || status >= 500 ? 'unavailable' : 'protocol',
    });
  }
  const session = headers
    .getSetCookie()
    .map(cookie => cookie.split(';', 1)[0].trim())
    .find(cookie => /^ipa_session=./.test(cookie));
  if (session === undefined) {
    throw new NoResultError('the login response has no session cookie', {
      server,
      executed: 'no',
      fault: 'protocol',
    });
  }
  return session;
}
