import { http, HttpResponse } from 'msw';

type Answer = () => Response;

/** A session as the server gives it. */
export function session(
  name = 'alice',
  options: { expiresInSeconds?: number } = {},
): Answer {
  return () =>
    HttpResponse.json({
      providerInfo: {},
      profile: { displayName: name },
      backstageIdentity: {
        token: `token-of-${name}`,
        expiresInSeconds: options.expiresInSeconds ?? 3600,
        identity: {
          type: 'user',
          userEntityRef: `user:default/${name}`,
          ownershipEntityRefs: [`user:default/${name}`],
        },
      },
    });
}

/** A 401 with a reason, sent when the server's clock shows `date`. */
export function refusal(reason: string, date = new Date()): Answer {
  return () =>
    HttpResponse.json(
      { reason, message: `The server says ${reason}.` },
      { status: 401, headers: { Date: date.toUTCString() } },
    );
}

/**
 * The answers of the auth plugin, in order; the last one again and again.
 */
export class KerberosServer {
  /** How often it was asked. */
  asked = 0;
  /** The headers of the last question. */
  headers = new Headers();
  readonly #answers: readonly Answer[];

  constructor(...answers: readonly Answer[]) {
    this.#answers = answers;
  }

  /** For msw. */
  handler(provider = 'kerberos') {
    return http.get(`*/api/auth/${provider}/refresh`, ({ request }) => {
      const answer = this.#answers.at(
        Math.min(this.asked, this.#answers.length - 1),
      );
      this.asked += 1;
      this.headers = request.headers;
      return answer?.();
    });
  }
}
