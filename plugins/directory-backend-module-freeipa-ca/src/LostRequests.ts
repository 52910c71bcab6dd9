import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggerService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  OutcomeUnknownError,
  type IssuedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { LRUCache } from 'lru-cache';
import type { IssuedSearch, LostRequest, SearchResult } from './IssuedSearch';
import type { SigningFailure } from './judgeSigning';

/** Signing takes Dogtag a second or so; the pause doubles from look to look. */
const FIRST_PAUSE_MS = 500;

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
  readonly #open = new LRUCache<string, LostRequest>({
    max: 1000,
    ttl: MEMORY_MS,
  });

  constructor(options: {
    readonly search: IssuedSearch;
    /** How long to look, in milliseconds. */
    readonly searchMs: number;
    readonly logger: LoggerService;
  }) {
    this.#search = options.search;
    this.#searchMs = options.searchMs;
    this.#logger = options.logger;
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
    const result = await this.#look(lost);
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
    const result = finished
      ? await this.#look(lost)
      : await this.#lookForAWhile(lost);
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

  async #lookForAWhile(lost: LostRequest): Promise<SearchResult> {
    const deadline = Date.now() + this.#searchMs;
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const result = await this.#look(lost);
      const left = deadline - Date.now();
      if (result.found === 'one' || left <= 0) {
        return result;
      }
      await sleep(Math.min(pause, left));
      pause *= 2;
    }
  }

  async #look(lost: LostRequest): Promise<SearchResult> {
    try {
      return await this.#search.look(lost);
    } catch (error) {
      this.#logger.warn(
        `FreeIPA cannot be asked for the certificate of a lost request: ${
          toError(error).message
        }`,
      );
      return { found: 'unclear' };
    }
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
