import { http, HttpResponse } from 'msw';

type Answer = () => Response;

/** Session response of the server. */
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
 * Mock auth plugin: sends its responses in order, then repeats the last one.
 */
export class KerberosServer {
  /** Number of requests. */
  asked = 0;
  /** Headers of the last request. */
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
