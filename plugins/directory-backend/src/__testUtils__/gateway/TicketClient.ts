import type { Answer, GatewayClient } from './GatewayClient';

/** Sends each request with a principal's SPNEGO token. */
export class TicketClient {
  readonly #client: GatewayClient;
  readonly #principal: string;

  constructor(options: {
    readonly client: GatewayClient;
    /** For example `alice`. */
    readonly principal: string;
  }) {
    this.#client = options.client;
    this.#principal = options.principal;
  }

  /** `path` is below `/api/directory`, encoded. */
  ask(path: string): Promise<Answer> {
    return this.#client.ask(path, { as: this.#principal });
  }
}
