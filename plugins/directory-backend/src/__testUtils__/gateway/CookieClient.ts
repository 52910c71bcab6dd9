import { request, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Answer, GatewayClient } from './GatewayClient';
import { sessionIn } from './sessionCookies';
import type { Gateway } from './startGateway';
import { validateResponse } from '../openapi/validateResponse';

/**
 * Sends each request with the session cookie of an API client. Node's `fetch`
 * cannot: it sends `Sec-Fetch-Mode`, and a browser gets no such session.
 */
export class CookieClient {
  readonly #gateway: Pick<Gateway, 'baseUrl'>;
  readonly #cookie: string;

  private constructor(gateway: Pick<Gateway, 'baseUrl'>, cookie: string) {
    this.#gateway = gateway;
    this.#cookie = cookie;
  }

  /** Starts a session with a principal's ticket. */
  static async signIn(
    gateway: Pick<Gateway, 'baseUrl'>,
    options: { readonly client: GatewayClient; readonly principal: string },
  ): Promise<CookieClient> {
    const { client, principal } = options;
    const answer = await client.ask('/v1/me/', { as: principal });
    return new CookieClient(gateway, sessionIn(answer));
  }

  /** `path` is below `/api/directory`, encoded. */
  async ask(path: string): Promise<Answer> {
    const response = await this.#get(path);
    const text = await readText(response);
    const status = response.statusCode ?? 0;
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(
      response.headersDistinct,
    )) {
      values.forEach(value => headers.append(name, value));
    }
    validateResponse({
      method: 'GET',
      path,
      masked: false,
      status,
      headers,
      body: text,
    });
    const isJson = headers.get('content-type')?.includes('json');
    return { status, headers, text, json: isJson && JSON.parse(text) };
  }

  #get(path: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request(`${this.#gateway.baseUrl}/api/directory${path}`, {
        headers: { cookie: this.#cookie },
      })
        .on('response', resolve)
        .on('error', reject)
        .end();
    });
  }
}
