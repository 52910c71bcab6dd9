import type { LoggerService } from '@backstage/backend-plugin-api';
import type { FreeIpaServer } from './FreeIpaServer';
import { NoVerdictError } from './NoVerdictError';
import type { RpcCommand } from './RpcCommand';
import type { RpcRecord } from './RpcValue';

/** How long a server that was out of reach comes last. */
const REST_MS = 30 * 1000;

/** FreeIPA's servers, asked in order until one gives a verdict. */
export class FreeIpaServers {
  readonly #servers: readonly FreeIpaServer[];
  readonly #logger: LoggerService;
  readonly #restsUntil = new Map<FreeIpaServer, number>();

  constructor(options: {
    readonly servers: readonly FreeIpaServer[];
    readonly logger: LoggerService;
  }) {
    this.#servers = options.servers;
    this.#logger = options.logger;
  }

  /**
   * Runs a command that must not be run twice: another server is asked only
   * when it is certain that the one before has not run it.
   *
   * @throws RpcError, NoVerdictError
   */
  async runOnce(command: RpcCommand): Promise<RpcRecord> {
    return await this.#ask(command, {
      servers: this.#inOrder(),
      mayGoOn: error => error.executed === 'no',
    });
  }

  /**
   * Runs a command that changes nothing, on any server.
   *
   * @param options - `first` is the origin of the server to ask first.
   * @throws RpcError, NoVerdictError
   */
  async read(
    command: RpcCommand,
    options: { readonly first?: string } = {},
  ): Promise<RpcRecord> {
    const rank = (server: FreeIpaServer) =>
      server.origin === options.first ? 0 : 1;
    return await this.#ask(command, {
      servers: this.#inOrder().sort((a, b) => rank(a) - rank(b)),
      mayGoOn: () => true,
    });
  }

  /** As configured, but those that were out of reach a moment ago last. */
  #inOrder(): FreeIpaServer[] {
    const now = Date.now();
    const rests = (server: FreeIpaServer) =>
      (this.#restsUntil.get(server) ?? 0) > now ? 1 : 0;
    return [...this.#servers].sort((a, b) => rests(a) - rests(b));
  }

  async #ask(
    command: RpcCommand,
    options: {
      readonly servers: readonly FreeIpaServer[];
      mayGoOn(error: NoVerdictError): boolean;
    },
  ): Promise<RpcRecord> {
    let failure: NoVerdictError | undefined;
    for (const server of options.servers) {
      try {
        const result = await server.call(command);
        this.#restsUntil.delete(server);
        return result;
      } catch (error) {
        if (!(error instanceof NoVerdictError)) {
          throw error; // a verdict
        }
        failure = error;
        this.#note(server, error);
        if (error.fault === 'credentials' || !options.mayGoOn(error)) {
          throw error;
        }
      }
    }
    throw failure;
  }

  #note(server: FreeIpaServer, error: NoVerdictError): void {
    if (error.fault === 'unavailable') {
      this.#restsUntil.set(server, Date.now() + REST_MS);
    }
    this.#logger.warn(`FreeIPA gave no answer: ${error.message}`);
  }
}
