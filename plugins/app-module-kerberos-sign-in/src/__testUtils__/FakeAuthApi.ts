import { http, HttpResponse } from 'msw';

type Respond = () => Response;

/** Session response from the server. */
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

/** 401 response with a reason, sent at the server time `date`. */
export function refusal(reason: string, date = new Date()): Respond {
  return () =>
    HttpResponse.json(
      { reason, message: `The server says ${reason}.` },
      { status: 401, headers: { Date: date.toUTCString() } },
    );
}

/**
 * Mock auth plugin that sends its responses in order and then repeats the last
 * one.
 */
export class FakeAuthApi {
  /** Number of requests. */
  requests = 0;
  /** Headers of the most recent request. */
  headers = new Headers();
  readonly #responses: readonly Respond[];

  constructor(...responses: readonly Respond[]) {
    this.#responses = responses;
  }

  /** Request handlers for msw. */
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
