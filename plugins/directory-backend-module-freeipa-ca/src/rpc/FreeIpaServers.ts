import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Clock } from './Clock';
import {
  NoResultError,
  RpcError,
  isDogtagDown,
  isServerFailure,
} from './errors';
import type { FreeIpaServer } from './FreeIpaServer';
import type { RpcCommand, RpcRecord } from './RpcCommand';

/** Time for which a server that was not available is tried last. */
const DEMOTION_MS = 30 * 1000;

/** Options of {@link FreeIpaServers}. */
export interface FreeIpaServersOptions {
  readonly servers: readonly FreeIpaServer[];
  readonly logger: LoggerService;
  readonly clock: Clock;
}

/** Reason why a server did not return a result. */
type ServerFailure = Pick<NoResultError, 'executed' | 'fault' | 'message'>;

/** FreeIPA servers, which are tried in order until one returns a result. */
export class FreeIpaServers {
  readonly #options: FreeIpaServersOptions;
  readonly #demotedUntil = new Map<FreeIpaServer, number>();

  constructor(options: FreeIpaServersOptions) {
    this.#options = options;
  }

  /**
   * Runs a command that must not run twice: another server is tried only when
   * it is certain that the previous one did not run it.
   *
   * @throws RpcError, NoResultError
   */
  async runOnce(command: RpcCommand): Promise<RpcRecord> {
    return await this.#run(command, {
      servers: this.#inOrder(),
      mayRetry: ({ executed }) => executed === 'no',
    });
  }

  /**
   * Runs a command that changes nothing, on any server.
   *
   * @param options - `first`: origin of the server to try first; `signal`:
   *   aborts the running call and prevents more calls
   * @throws RpcError, NoResultError
   */
  async read(
    command: RpcCommand,
    options: { readonly first?: string; readonly signal?: AbortSignal } = {},
  ): Promise<RpcRecord> {
    const { first, signal } = options;
    const rank = (server: FreeIpaServer) => (server.origin === first ? 0 : 1);
    return await this.#run(command, {
      servers: this.#inOrder().sort((a, b) => rank(a) - rank(b)),
      mayRetry: () => signal?.aborted !== true,
      signal,
    });
  }

  /** Returns the servers in the configured order, demoted ones last. */
  #inOrder(): FreeIpaServer[] {
    const { servers, clock } = this.#options;
    const now = clock.now();
    const rank = (server: FreeIpaServer) =>
      (this.#demotedUntil.get(server) ?? 0) > now ? 1 : 0;
    return [...servers].sort((a, b) => rank(a) - rank(b));
  }

  /** Rejected credentials are not retried: all servers share the account. */
  async #run(
    command: RpcCommand,
    options: {
      readonly servers: readonly FreeIpaServer[];
      mayRetry(failure: ServerFailure): boolean;
      readonly signal?: AbortSignal;
    },
  ): Promise<RpcRecord> {
    let lastError: unknown;
    for (const server of options.servers) {
      try {
        const result = await server.call(command, options.signal);
        this.#demotedUntil.delete(server);
        return result;
      } catch (error) {
        const failure = failureIn(error);
        if (!failure) {
          throw error;
        }
        // An aborted search is not the server's failure.
        if (!options.signal?.aborted) {
          this.#recordFailure(server, failure);
        }
        if (failure.fault === 'credentials' || !options.mayRetry(failure)) {
          throw error;
        }
        lastError = error;
      }
    }
    throw lastError;
  }

  #recordFailure(
    server: FreeIpaServer,
    { fault, message }: ServerFailure,
  ): void {
    const { clock, logger } = this.#options;
    if (fault === 'unavailable') {
      this.#demotedUntil.set(server, clock.now() + DEMOTION_MS);
    }
    logger.warn(`A FreeIPA server failed: ${message}`);
  }
}

function failureIn(error: unknown): ServerFailure | undefined {
  if (error instanceof NoResultError) {
    return error;
  }
  if (!(error instanceof RpcError) || !isServerFailure(error)) {
    return undefined;
  }
  const { message } = error;
  return isDogtagDown(error)
    ? { executed: 'no', fault: 'unavailable', message }
    : { executed: 'perhaps', fault: 'protocol', message };
}
