import type { Answer } from './GatewayClient';
import type { Gateway } from './startGateway';
import { validateResponse } from './validateResponse';

/**
 * Asks a gateway with a portal token, many times a second, and holds every
 * answer against the OpenAPI document.
 */
export class PortalClient {
  readonly #gateway: Gateway;
  readonly #token: string;

  private constructor(gateway: Gateway, token: string) {
    this.#gateway = gateway;
    this.#token = token;
  }

  /** Signs the guest in. */
  static async signIn(gateway: Gateway): Promise<PortalClient> {
    const url = `${gateway.baseUrl}/api/auth/guest/refresh`;
    const headers = { 'X-Requested-With': 'XMLHttpRequest' };
    const response = await fetch(url, { headers });
    const { backstageIdentity } = await response.json();
    return new PortalClient(gateway, backstageIdentity.token);
  }

  /** `path` is below `/api/directory`. */
  async ask(path: string): Promise<Answer> {
    const response = await fetch(
      `${this.#gateway.baseUrl}/api/directory${path}`,
      { headers: { Authorization: `Bearer ${this.#token}` } },
    );
    const { status, headers } = response;
    const text = await response.text();
    validateResponse({ method: 'GET', path, status, headers, body: text });
    return { status, headers, text, json: JSON.parse(text) };
  }
}
