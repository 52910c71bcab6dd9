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
  method: 'get' | 'post' | 'put',
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
   * Base URL of the API including `/v1`: `plugin://directory/v1` with
   * Backstage's fetch API, the URL from the discovery API plus `/v1`, or any
   * other URL.
   */
  baseUrl: string;

  /**
   * Sends requests with credentials. Default: the global `fetch`, without
   * credentials.
   */
  fetch?: FetchByUrl;
}

/**
 * Creates a directory client for Node.js and browsers, based on openapi-fetch.
 * It keeps serial numbers exact and throws for an error status.
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

  // openapi-fetch uses JSON.parse, which rounds long numbers. Wrapping it loses
  // its signatures, so DirectoryClient declares them again, with data that is
  // always defined.
  const request = client.request as unknown as PlainRequest;
  const readExactly =
    (method: 'get' | 'post' | 'put') => async (path: string, init?: object) => {
      const result = await request(method, path, { ...init, parseAs: 'text' });
      return { ...result, data: parseJson(result.data) };
    };
  const stream: DirectoryStream = (path, init) =>
    request('get', path, { ...init, parseAs: 'stream' });

  return {
    get: readExactly('get') as DirectoryMethod<'get'>,
    post: readExactly('post') as DirectoryMethod<'post'>,
    put: readExactly('put') as DirectoryMethod<'put'>,
    stream,
    use: client.use,
    eject: client.eject,
  };
}

/**
 * The subset of `fetch` that a directory client uses.
 *
 * @public
 */
export type FetchByUrl = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Adapts `fetch` to openapi-fetch, which passes a Request. Backstage's fetch
 * middleware (`PluginProtocolResolverFetchMiddleware` in core-app-api) copies a
 * Request and thereby consumes its body, so that every POST fails. A URL and
 * its init can be copied any number of times.
 */
function fetchByUrl(
  fetch: FetchByUrl,
): (request: Request) => Promise<Response> {
  return async request => {
    const { url, method, headers, signal, credentials, cache, redirect } =
      request;
    const body = method === 'GET' ? '' : await request.text();
    return fetch(url, {
      method,
      headers,
      body: body || undefined,
      signal,
      credentials,
      cache,
      redirect,
    });
  };
}
