import type { LoggerService } from '@backstage/backend-plugin-api';
import { once as untilEvent } from 'node:events';
import type { Clock } from './Clock';
import { FreeIpaError } from './errors';
import type { FreeIpaConfig } from './FreeIpaConfig';
import { FreeIpaServer } from './FreeIpaServer';
import { HttpsClient } from './HttpsClient';
import { createLogin } from './login';
import type { RpcCommand, RpcRecord } from './rpc';

/** Time for which a server that was not available is tried last. */
const DEMOTION_MS = 30 * 1000;

/** Configuration and services of this module. */
export interface FreeIpaOptions {
  readonly config: FreeIpaConfig;
  readonly logger: LoggerService;
  readonly clock: Clock;
}

/** FreeIPA servers, which are tried in order until one returns a result. */
export class FreeIpaServers {
  readonly #options: FreeIpaOptions;
  readonly #servers: readonly FreeIpaServer[];
  readonly #demotedUntil = new Map<string, number>();

  /** @throws Error when the process already uses another client keytab. */
  constructor(options: FreeIpaOptions) {
    const { config, clock } = options;
    const https = new HttpsClient({ ...config, clock });
    const login = createLogin(config.login);
    this.#options = options;
    this.#servers = config.servers.map(
      origin => new FreeIpaServer({ origin, https, login }),
    );
  }

  /**
   * Runs a command. Rejected credentials are not retried: all servers share the
   * account.
   *
   * @param options - `once`: whether another server is tried only when it is
   *   certain that the previous one did not run the command, default: false;
   *   `signal`: aborts the running call and prevents more calls
   * @throws FreeIpaError
   */
  async run(
    command: RpcCommand,
    options: {
      readonly once?: boolean;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<RpcRecord> {
    const { once = false, signal } = options;
    let lastError: unknown;
    for (const server of this.#inOrder()) {
      try {
        return await this.#call(server, command, signal);
      } catch (error) {
        if (!(error instanceof FreeIpaError)) {
          throw error;
        }
        const mayRetry = once ? error.executed === 'no' : !signal?.aborted;
        if (!error.isRetryable || !mayRetry) {
          throw error;
        }
        lastError = error;
      }
    }
    throw lastError;
  }

  /**
   * Runs a command that reads on every server, until the signal aborts.
   *
   * @returns the results of the servers that responded
   * @throws the error of the first server when none responded.
   */
  async runOnEach(
    command: RpcCommand,
    signal: AbortSignal,
  ): Promise<readonly RpcRecord[]> {
    const calls = this.#servers.map(server =>
      untilAborted(this.#call(server, command, signal), signal),
    );
    const settled = await Promise.allSettled(calls);
    const results = settled.flatMap(call =>
      call.status === 'fulfilled' ? [call.value] : [],
    );
    return results.length > 0 ? results : [await calls[0]];
  }

  async #call(
    server: FreeIpaServer,
    command: RpcCommand,
    signal: AbortSignal | undefined,
  ): Promise<RpcRecord> {
    try {
      const result = await server.call(command, signal);
      this.#demotedUntil.delete(server.origin);
      return result;
    } catch (error) {
      if (error instanceof FreeIpaError) {
        this.#recordFailure(error, signal);
      }
      throw error;
    }
  }

  #recordFailure(error: FreeIpaError, signal: AbortSignal | undefined): void {
    const { isRetryable, fault, server, message } = error;
    // An aborted search is not the server's failure.
    if (signal?.aborted || !(isRetryable || fault === 'credentials')) {
      return;
    }
    const { clock, logger } = this.#options;
    logger.warn(`A FreeIPA server failed: ${message}`);
    if (fault === 'unreachable' || fault === 'unavailable') {
      this.#demotedUntil.set(server, clock.now() + DEMOTION_MS);
    }
  }

  /** Returns the servers in the configured order, demoted ones last. */
  #inOrder(): FreeIpaServer[] {
    const now = this.#options.clock.now();
    const rank = ({ origin }: FreeIpaServer) =>
      (this.#demotedUntil.get(origin) ?? 0) > now ? 1 : 0;
    return [...this.#servers].sort((a, b) => rank(a) - rank(b));
  }
}

/**
 * Waits for work until the signal aborts: a login may take longer.
 *
 * @throws the signal's reason
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const aborted = untilEvent(signal, 'abort').then(() => {
    throw signal.reason;
  });
  return await Promise.race([work, aborted]);
}
