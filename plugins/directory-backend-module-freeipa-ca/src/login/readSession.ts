import type { HttpsAnswer } from '../http/HttpsClient';
import { NoVerdictError } from '../rpc/NoVerdictError';

/**
 * The session that a server's answer to a login gives, as a value for the
 * `Cookie` header: `ipa_session=MagBearerToken=…`.
 *
 * @param options - `server` is its origin.
 * @throws NoVerdictError when it gives none.
 */
export function readSession(options: {
  readonly server: string;
  readonly answer: HttpsAnswer;
}): string {
  const { server, answer } = options;
  if (answer.status !== 200) {
    const reason = answer.headers.get('x-ipa-rejection-reason');
    throw new NoVerdictError(
      `the login was answered with status ${answer.status}` +
        (reason === null ? '' : ` (${reason})`),
      {
        server,
        executed: 'no',
        fault:
          answer.status >= 400 && answer.status < 500 && answer.status !== 401
            ? 'protocol'
            : 'unavailable',
      },
    );
  }
  const session = answer.headers
    .getSetCookie()
    .map(cookie => cookie.split(';', 1)[0].trim())
    .find(cookie => /^ipa_session=./.test(cookie));
  if (session === undefined) {
    throw new NoVerdictError('the login was answered without a session', {
      server,
      executed: 'no',
      fault: 'protocol',
    });
  }
  return session;
}
