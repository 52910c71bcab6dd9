import { http, HttpResponse } from 'msw';

type Respond = () => Response;

/** Session response of the server. */
export function session(
  name = 'alice',
  options: { expiresInSeconds?: number } = {},
): Respond {
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
export function refusal(reason: string, date = new Date()): Respond {
  return () =>
    HttpResponse.json(
      { reason, message: `The server says ${reason}.` },
      { status: 401, headers: { Date: date.toUTCString() } },
    );
}

/**
 * Mock auth plugin: sends its responses in order, then repeats the last one.
 */
export class FakeAuthApi {
  /** Number of requests. */
  requests = 0;
  /** Headers of the last request. */
  headers = new Headers();
  readonly #responses: readonly Respond[];

  constructor(...responses: readonly Respond[]) {
    this.#responses = responses;
  }

  /** For msw. */
  handler(provider = 'kerberos') {
    return http.get(`*/api/auth/${provider}/refresh`, ({ request }) => {
      const respond = this.#responses.at(
        Math.min(this.requests, this.#responses.length - 1),
      );
      this.requests += 1;
      this.headers = request.headers;
      return respond?.();
    });
  }
}
