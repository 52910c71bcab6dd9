import { createHash } from 'node:crypto';
import type { LoggerService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  OutcomeUnknownError,
  type IssuedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { LRUCache } from 'lru-cache';
import type { Clock } from './Clock';
import type { IssuedSearch, LostRequest, SearchResult } from './IssuedSearch';
import type { SigningFailure } from './classifyError';

/** Signing takes Dogtag about a second; the pause doubles up to the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 2000;

/** Longer than any client keeps asking for the same. */
const MEMORY_MS = 60 * 60 * 1000;

/**
 * Requests whose answers were lost. None is ever sent again by itself: a search
 * that finds nothing does not prove that FreeIPA is not still at it.
 */
export class LostRequests {
  readonly #search: IssuedSearch;
  readonly #searchMs: number;
  readonly #logger: LoggerService;
  readonly #clock: Clock;
  readonly #open = new LRUCache<string, LostRequest>({
    max: 1000,
    ttl: MEMORY_MS,
  });

  constructor(options: {
    readonly search: IssuedSearch;
    /** Maximum duration of a search, its requests included, in milliseconds. */
    readonly searchMs: number;
    readonly logger: LoggerService;
    readonly clock: Clock;
  }) {
    this.#search = options.search;
    this.#searchMs = options.searchMs;
    this.#logger = options.logger;
    this.#clock = options.clock;
  }

  /**
   * Settles a request with the same key that is still open, before another is
   * made.
   *
   * @returns its certificate, when it is the same request: same user and
   * profile, too. `undefined` when there is none, and a new request is due.
   * @throws OutcomeUnknownError when FreeIPA cannot say, or has several.
   */
  async recall(
    request: SigningRequest,
  ): Promise<IssuedCertificate | undefined> {
    const id = identify(request);
    const lost = this.#open.get(id);
    if (!lost) {
      return undefined;
    }
    const signal = this.#clock.timeout(this.#searchMs);
    const result = await this.#look(lost, signal);
    if (result.found === 'unclear') {
      throw new OutcomeUnknownError(
        `An earlier certificate request for ${lost.request.principal} is still open`,
      );
    }
    this.#open.delete(id);
    if (result.found === 'none') {
      return undefined;
    }
    this.#search.answered(result.certificate); // to one request or the other
    return isSame(lost.request, request) ? result.certificate : undefined;
  }

  /**
   * Looks for the certificate of a request that has just failed.
   *
   * @throws OutcomeUnknownError when it does not turn up in time.
   * @throws AuthorityProtocolError when there is certainly none.
   */
  async find(options: {
    readonly request: SigningRequest;
    readonly since: Date;
    readonly failure: SigningFailure & { readonly state: 'open' };
  }): Promise<IssuedCertificate> {
    const { request, since, failure } = options;
    const { finished, error, server } = failure;
    const id = identify(request);
    const lost: LostRequest = { request, since, server };
    this.#logger.warn(
      `It is not known whether FreeIPA signed a request for ${request.principal}; looking for the certificate: ${error.message}`,
    );
    this.#open.set(id, lost);
    const signal = this.#clock.timeout(this.#searchMs);
    const result = finished
      ? await this.#look(lost, signal)
      : await this.#lookForAWhile(lost, signal);
    if (result.found === 'one') {
      this.#open.delete(id);
      return result.certificate;
    }
    if (finished && result.found === 'none') {
      this.#open.delete(id);
      throw new AuthorityProtocolError(error.message);
    }
    throw new OutcomeUnknownError(
      `It is not known whether FreeIPA signed a request for ${request.principal}: ${error.message}`,
    );
  }

  async #lookForAWhile(
    lost: LostRequest,
    signal: AbortSignal,
  ): Promise<SearchResult> {
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const result = await this.#look(lost, signal);
      if (result.found === 'one') {
        return result;
      }
      await this.#clock.delay(pause, signal);
      if (signal.aborted) {
        return result;
      }
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  }

  async #look(lost: LostRequest, signal: AbortSignal): Promise<SearchResult> {
    try {
      return await untilAborted(this.#search.look(lost, signal), signal);
    } catch (error) {
      const reason = signal.aborted
        ? `no response within ${this.#searchMs} ms`
        : toError(error).message;
      this.#logger.warn(
        `The search for the certificate of a lost request failed: ${reason}`,
      );
      return { found: 'unclear' };
    }
  }
}

/** Waits for work no longer than the signal allows: a login may outlast it. */
async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** By its key: what tells the certificates of one user apart. */
function identify({ publicKey }: SigningRequest): string {
  return createHash('sha256').update(publicKey).digest('hex');
}

function isSame(one: SigningRequest, other: SigningRequest): boolean {
  return (
    one.username === other.username &&
    one.principal === other.principal &&
    one.profile === other.profile
  );
}
