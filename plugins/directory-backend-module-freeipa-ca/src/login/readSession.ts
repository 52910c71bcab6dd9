import type { HttpsResponse } from '../rpc/HttpsClient';
import { NoResultError } from '../rpc/errors';

/**
 * The session that a server's answer to a login gives, as a value for the
 * `Cookie` header: `ipa_session=MagBearerToken=…`.
 *
 * @param options - `server` is its origin.
 * @throws NoResultError when it gives none.
 */
export function readSession(options: {
  readonly server: string;
  readonly answer: HttpsResponse;
}): string {
  const { server, answer } = options;
  if (answer.status !== 200) {
    throw notAnswered(server, answer);
  }
  const session = answer.headers
    .getSetCookie()
    .map(cookie => cookie.split(';', 1)[0].trim())
    .find(cookie => /^ipa_session=./.test(cookie));
  if (session === undefined) {
    throw new NoResultError('the login was answered without a session', {
      server,
      executed: 'no',
      fault: 'protocol',
    });
  }
  return session;
}

/** A refused ticket may be another server's to accept; other 4xx are a fault. */
function notAnswered(server: string, answer: HttpsResponse): NoResultError {
  const { status, headers } = answer;
  const reason = headers.get('x-ipa-rejection-reason') ?? 'no reason given';
  const unavailable = status === 401 || status >= 500;
  return new NoResultError(
    `the login was answered with status ${status} (${reason})`,
    {
      server,
      executed: 'no',
      fault: unavailable ? 'unavailable' : 'protocol',
    },
  );
}
