import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Clock } from '../Clock';
import type { FreeIpaServer } from './FreeIpaServer';
import { isDogtagDown, isServerTrouble } from './errors';
import { NoResultError } from './errors';
import type { RpcCommand } from './RpcCommand';
import { RpcError } from './errors';
import type { RpcRecord } from './RpcCommand';

/** How long a server that was out of reach comes last. */
const REST_MS = 30 * 1000;

/** Why a server gave no verdict. */
type Trouble = Pick<NoResultError, 'executed' | 'fault' | 'message'>;

/** FreeIPA's servers, asked in order until one gives a verdict. */
export class FreeIpaServers {
  readonly #servers: readonly FreeIpaServer[];
  readonly #logger: LoggerService;
  readonly #clock: Clock;
  readonly #restsUntil = new Map<FreeIpaServer, number>();

  constructor(options: {
    readonly servers: readonly FreeIpaServer[];
    readonly logger: LoggerService;
    readonly clock: Clock;
  }) {
    this.#servers = options.servers;
    this.#logger = options.logger;
    this.#clock = options.clock;
  }

  /**
   * Runs a command that must not be run twice: another server is asked only
   * when it is certain that the one before has not run it.
   *
   * @throws RpcError, NoResultError
   */
  async runOnce(command: RpcCommand): Promise<RpcRecord> {
    return await this.#ask(command, {
      servers: this.#inOrder(),
      mayGoOn: trouble => trouble.executed === 'no',
    });
  }

  /**
   * Runs a command that changes nothing, on any server.
   *
   * @param options - `first` is the origin of the server to query first;
   * `signal` aborts the running call and prevents further ones.
   * @throws RpcError, NoResultError
   */
  async read(
    command: RpcCommand,
    options: { readonly first?: string; readonly signal?: AbortSignal } = {},
  ): Promise<RpcRecord> {
    const { first, signal } = options;
    const rank = (server: FreeIpaServer) => (server.origin === first ? 0 : 1);
    return await this.#ask(command, {
      servers: this.#inOrder().sort((a, b) => rank(a) - rank(b)),
      mayGoOn: () => signal?.aborted !== true,
      signal,
    });
  }

  /** As configured, but those that were out of reach a moment ago last. */
  #inOrder(): FreeIpaServer[] {
    const now = this.#clock.now();
    const rests = (server: FreeIpaServer) =>
      (this.#restsUntil.get(server) ?? 0) > now ? 1 : 0;
    return [...this.#servers].sort((a, b) => rests(a) - rests(b));
  }

  /** A verdict ends it, and so do credentials, which are the same everywhere. */
  async #ask(
    command: RpcCommand,
    options: {
      readonly servers: readonly FreeIpaServer[];
      mayGoOn(trouble: Trouble): boolean;
      readonly signal?: AbortSignal;
    },
  ): Promise<RpcRecord> {
    let failure: unknown;
    for (const server of options.servers) {
      try {
        const result = await server.call(command, options.signal);
        this.#restsUntil.delete(server);
        return result;
      } catch (error) {
        const trouble = troubleIn(error);
        if (!trouble) {
          throw error;
        }
        // A search that its caller aborted says nothing about the server.
        if (!options.signal?.aborted) {
          this.#note(server, trouble);
        }
        if (trouble.fault === 'credentials' || !options.mayGoOn(trouble)) {
          throw error;
        }
        failure = error;
      }
    }
    throw failure;
  }

  #note(server: FreeIpaServer, { fault, message }: Trouble): void {
    if (fault === 'unavailable') {
      this.#restsUntil.set(server, this.#clock.now() + REST_MS);
    }
    this.#logger.warn(`A FreeIPA server failed: ${message}`);
  }
}

function troubleIn(error: unknown): Trouble | undefined {
  if (error instanceof NoResultError) {
    return error;
  }
  if (!(error instanceof RpcError) || !isServerTrouble(error)) {
    return undefined;
  }
  const { message } = error;
  return isDogtagDown(error)
    ? { executed: 'no', fault: 'unavailable', message }
    : { executed: 'perhaps', fault: 'protocol', message };
}
