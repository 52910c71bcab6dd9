import createClient, { type Middleware } from 'openapi-fetch';
import type { paths } from './generated/openapi';
import type {
  DirectoryClient,
  DirectoryMethod,
  DirectoryStream,
} from './DirectoryClient';
import { DirectoryResponseError, parseJson } from './DirectoryResponseError';

const throwErrors: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) {
      throw await DirectoryResponseError.fromResponse(response);
    }
  },
};

type PlainRequest = <ParseAs extends 'text' | 'stream'>(
  method: 'get' | 'post',
  path: string,
  init: object & { parseAs: ParseAs },
) => Promise<{
  data: ParseAs extends 'text' ? string : ReadableStream<Uint8Array>;
  response: Response;
}>;

/**
 * Options of {@link createDirectoryClient}.
 *
 * @public
 */
export interface DirectoryClientOptions {
  /**
   * Where the API is, up to and including `/v1`: `plugin://directory/v1` with
   * Backstage's fetch API, what the discovery API says plus `/v1`, or any URL.
   */
  baseUrl: string;

  /**
   * Sends the requests and brings the credentials. Defaults to the global
   * `fetch`, which brings none.
   */
  fetch?: FetchByUrl;
}

/**
 * Creates a client of the directory, for Node.js and browsers. It is
 * openapi-fetch with two additions: answers are read without losing a digit of
 * a serial number, and an error status is thrown.
 *
 * @example
 * ```ts
 * const client = createDirectoryClient({
 *   baseUrl: 'plugin://directory/v1',
 *   fetch: fetchApi.fetch,
 * });
 * const { data } = await client.get('/users/{username}/', {
 *   params: { path: { username: 'alice' } },
 * });
 * ```
 *
 * @public
 */
export function createDirectoryClient(
  options: DirectoryClientOptions,
): DirectoryClient {
  const { baseUrl, fetch = globalThis.fetch } = options;
  const client = createClient<paths>({ baseUrl, fetch: fetchByUrl(fetch) });
  client.use(throwErrors);

  // openapi-fetch reads JSON with JSON.parse, which rounds long numbers. Its
  // signatures do not survive a wrapper: DirectoryClient states them again, for
  // an answer that is always there.
  const request = client.request as unknown as PlainRequest;
  const readExactly =
    (method: 'get' | 'post') => async (path: string, init?: object) => {
      const answer = await request(method, path, { ...init, parseAs: 'text' });
      return { ...answer, data: parseJson(answer.data) };
    };
  const stream: DirectoryStream = (path, init) =>
    request('get', path, { ...init, parseAs: 'stream' });

  return {
    get: readExactly('get') as DirectoryMethod<'get'>,
    post: readExactly('post') as DirectoryMethod<'post'>,
    stream,
    use: client.use,
    eject: client.eject,
  };
}

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
