import type { LoggerService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  type IssuedCertificate,
  OutcomeUnknownError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { LRUCache } from 'lru-cache';
import { X509Certificate, createHash } from 'node:crypto';
import type { SigningFailure } from './classifyError';
import type { Clock } from './rpc/Clock';
import { CERT_FIND_LIMIT, certFind } from './commands';
import {
  decodeCertificate,
  isKeyOf,
  serialNumberOf,
} from './decodeCertificate';
import type { FreeIpaServers } from './rpc/FreeIpaServers';
import { isRpcRecord } from './rpc/RpcCommand';

/**
 * Pauses between searches: Dogtag takes about a second to sign. The pause
 * doubles up to the maximum.
 */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 2000;

/** Longer than the time for which clients repeat a request. */
const PENDING_TTL_MS = 60 * 60 * 1000;

/** Clock skew that Kerberos tolerates (RFC 4120 §3.1.3). */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** Options of {@link PendingRequests}. */
export interface PendingRequestsOptions {
  readonly servers: FreeIpaServers;
  readonly cacn: string;
  /** Maximum duration of a search in milliseconds. */
  readonly searchMs: number;
  readonly logger: LoggerService;
  readonly clock: Clock;
}

/** A request for a certificate whose response was lost. */
interface PendingRequest {
  readonly request: SigningRequest;
  /** Time at which it was sent. */
  readonly since: Date;
  /** Origin of the server that received it last, which is queried first. */
  readonly server?: string;
}

/** Result of the search for the certificate of a pending request. */
type SearchResult =
  | { readonly found: 'one'; readonly certificate: IssuedCertificate }
  /** FreeIPA currently has none. */
  | { readonly found: 'none' }
  /** There are several or too many to list, or the search failed. */
  | { readonly found: 'unclear' };

/**
 * Requests whose responses were lost. They are never repeated: a search without
 * a result does not prove that FreeIPA has finished processing the request. A
 * certificate belongs to a pending request when it is for the same user and
 * key, was issued after the request was sent, and was not returned for another
 * request.
 */
export class PendingRequests {
  readonly #options: PendingRequestsOptions;
  readonly #pending = new LRUCache<string, PendingRequest>({
    max: 1000,
    ttl: PENDING_TTL_MS,
  });
  /** Serial numbers of recently returned certificates. */
  readonly #returned = new LRUCache<string, true>({
    max: 10_000,
    ttl: 2 * CLOCK_SKEW_MS,
  });

  constructor(options: PendingRequestsOptions) {
    this.#options = options;
  }

  /** Records that a certificate was returned for a request. */
  recordResponse(issued: IssuedCertificate): void {
    this.#returned.set(String(serialNumberOf(issued)), true);
  }

  /**
   * Resolves a pending request with the same key before a new request is sent.
   *
   * @returns its certificate if the requests are equal (user and profile);
   *   `undefined` if there is none, so that a new request can be sent
   * @throws OutcomeUnknownError when FreeIPA is not available, or has several.
   */
  async recover(
    request: SigningRequest,
  ): Promise<IssuedCertificate | undefined> {
    const id = identify(request);
    const pending = this.#pending.get(id);
    if (!pending) {
      return undefined;
    }
    const signal = this.#options.clock.timeout(this.#options.searchMs);
    const result = await this.#search(pending, signal);
    if (result.found === 'unclear') {
      throw new OutcomeUnknownError(
        `An earlier certificate request for ${pending.request.principal} is still pending`,
      );
    }
    this.#pending.delete(id);
    if (result.found === 'none') {
      return undefined;
    }
    this.recordResponse(result.certificate);
    return isEqual(pending.request, request) ? result.certificate : undefined;
  }

  /**
   * Searches for the certificate of a request that has just failed.
   *
   * @throws OutcomeUnknownError when it is not found in time.
   * @throws AuthorityProtocolError when there is certainly none.
   */
  async find(options: {
    readonly request: SigningRequest;
    readonly since: Date;
    readonly failure: SigningFailure & { readonly state: 'unknown' };
  }): Promise<IssuedCertificate> {
    const { request, since, failure } = options;
    const { finished, error, server } = failure;
    const { logger, clock, searchMs } = this.#options;
    const id = identify(request);
    const pending: PendingRequest = { request, since, server };
    const message = `It is not known whether FreeIPA signed a request for ${request.principal}: ${error.message}`;
    logger.warn(`${message}. Searching for the certificate`);
    this.#pending.set(id, pending);
    const signal = clock.timeout(searchMs);
    const result = finished
      ? await this.#search(pending, signal)
      : await this.#searchRepeatedly(pending, signal);
    if (result.found === 'one') {
      this.#pending.delete(id);
      return result.certificate;
    }
    if (finished && result.found === 'none') {
      this.#pending.delete(id);
      throw new AuthorityProtocolError(error.message);
    }
    throw new OutcomeUnknownError(message);
  }

  async #searchRepeatedly(
    pending: PendingRequest,
    signal: AbortSignal,
  ): Promise<SearchResult> {
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const result = await this.#search(pending, signal);
      if (result.found === 'one') {
        return result;
      }
      await this.#options.clock.delay(pause, signal);
      if (signal.aborted) {
        return result;
      }
      pause = Math.min(2 * pause, MAX_PAUSE_MS);
    }
  }

  async #search(
    pending: PendingRequest,
    signal: AbortSignal,
  ): Promise<SearchResult> {
    const { logger, searchMs } = this.#options;
    try {
      return await untilAborted(this.#query(pending, signal), signal);
    } catch (error) {
      const reason = signal.aborted
        ? `no response within ${searchMs} ms`
        : toError(error).message;
      logger.warn(
        `Searching for a certificate after a lost response failed: ${reason}`,
      );
      return { found: 'unclear' };
    }
  }

  async #query(
    { request, since, server }: PendingRequest,
    signal: AbortSignal,
  ): Promise<SearchResult> {
    const { servers, cacn } = this.#options;
    const { username } = request;
    const { result } = await servers.read(certFind({ username, since }), {
      first: server,
      signal,
    });
    if (!Array.isArray(result) || !result.every(isRpcRecord)) {
      throw new AuthorityProtocolError(
        'FreeIPA did not return a list for cert_find',
      );
    }
    const candidates = result
      .filter(record => record.cacn === cacn)
      .map(decodeCertificate)
      .filter(
        issued =>
          isKeyOf(issued, request) &&
          validFrom(issued) >= since.getTime() - CLOCK_SKEW_MS &&
          !this.#returned.has(String(serialNumberOf(issued))),
      );
    if (candidates.length === 1) {
      return { found: 'one', certificate: candidates[0] };
    }
    return candidates.length === 0 && result.length < CERT_FIND_LIMIT
      ? { found: 'none' }
      : { found: 'unclear' };
  }
}

function validFrom({ certificate }: IssuedCertificate): number {
  return new X509Certificate(certificate.der).validFromDate.getTime();
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

/** Identifies a request by its key, which its certificates contain. */
function identify({ publicKey }: SigningRequest): string {
  return createHash('sha256').update(publicKey).digest('hex');
}

function isEqual(one: SigningRequest, other: SigningRequest): boolean {
  return (
    one.username === other.username &&
    one.principal === other.principal &&
    one.profile === other.profile
  );
}
