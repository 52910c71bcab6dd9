import type { Answer } from './GatewayClient';
import type { Gateway } from './startGateway';
import { validateResponse } from '../openapi/validateResponse';

/**
 * Asks a gateway with a token of the portal, many times in a moment, and holds
 * every answer against the OpenAPI document.
 */
export class TokenClient {
  readonly #gateway: Pick<Gateway, 'baseUrl'>;
  readonly #token: string;

  constructor(options: {
    readonly gateway: Pick<Gateway, 'baseUrl'>;
    readonly token: string;
  }) {
    this.#gateway = options.gateway;
    this.#token = options.token;
  }

  /**
   * As the user that the guest provider of the portal signs in.
   *
   * @param asked - who is asked with the token. Default: who has issued it
   */
  static async signIn(
    gateway: Pick<Gateway, 'baseUrl'>,
    asked = gateway,
  ): Promise<TokenClient> {
    const token = await TokenClient.token(gateway);
    return new TokenClient({ gateway: asked, token });
  }

  /** The token itself. */
  static async token({ baseUrl }: Pick<Gateway, 'baseUrl'>): Promise<string> {
    const response = await fetch(`${baseUrl}/api/auth/guest/refresh`, {
      headers: { 'X-Requested-With': 'XMLHttpRequest' },
    });
    const { backstageIdentity } = await response.json();
    return backstageIdentity.token;
  }

  /** `path` is below `/api/directory`, encoded. */
  async ask(
    path: string,
    options: { readonly mask?: string } = {},
  ): Promise<Answer> {
    const { mask } = options;
    const url = `${this.#gateway.baseUrl}/api/directory${path}`;
    const response = await fetch(url, {
      headers: {
        Authorization: `Bearer ${this.#token}`,
        ...(mask !== undefined && { 'X-Fields': mask }),
      },
    });
    const text = await response.text();
    const { status, headers } = response;
    validateResponse({
      method: 'GET',
      path,
      status,
      headers,
      body: text,
      masked: mask !== undefined && mask.trim() !== '',
    });
    const isJson = headers.get('content-type')?.includes('json');
    return { status, headers, text, json: isJson && JSON.parse(text) };
  }
}
