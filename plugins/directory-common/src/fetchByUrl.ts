/**
 * The part of `fetch` that a directory client needs: a URL and what to send.
 *
 * @public
 */
export type FetchByUrl = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Adapts such a function to what openapi-fetch calls, one with a Request.
 * Backstage's fetch middleware copies a Request on its way and so uses up its
 * body (`PluginProtocolResolverFetchMiddleware` in core-app-api), which fails
 * every POST; a URL with its init can be copied any number of times.
 */
export function fetchByUrl(
  fetch: FetchByUrl,
): (request: Request) => Promise<Response> {
  return async request => {
    const { url, method, headers, signal, credentials, cache, redirect } =
      request;
    const body = (await request.text()) || undefined;
    return fetch(url, {
      method,
      headers,
      body,
      signal,
      credentials,
      cache,
      redirect,
    });
  };
}
