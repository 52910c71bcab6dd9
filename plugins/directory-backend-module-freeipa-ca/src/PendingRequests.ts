import { X509Certificate, createHash, createPublicKey } from 'node:crypto';
import type { LoggerService } from '@backstage/backend-plugin-api';
import { toError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  type IssuedCertificate,
  OutcomeUnknownError,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { LRUCache } from 'lru-cache';
import type { Clock } from './Clock';
import type { SigningFailure } from './classifyError';
import { CERT_FIND_LIMIT, certFind } from './commands';
import { decodeCertificate } from './decodeCertificate';
import type { FreeIpaServers } from './rpc/FreeIpaServers';
import { type RpcRecord, isRpcRecord } from './rpc/RpcCommand';

/** Signing takes Dogtag about a second; the pause doubles up to the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 2000;

/** Longer than any client keeps asking for the same. */
const MEMORY_MS = 60 * 60 * 1000;

/**
 * Requests whose answers were lost. None is ever sent again by itself: a search
 * that finds nothing does not prove that FreeIPA is not still at it.
 */
export class PendingRequests {
  readonly #search: IssuedSearch;
  readonly #searchMs: number;
  readonly #logger: LoggerService;
  readonly #clock: Clock;
  readonly #open = new LRUCache<string, PendingRequest>({
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
    const lost: PendingRequest = { request, since, server };
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
    lost: PendingRequest,
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

  async #look(lost: PendingRequest, signal: AbortSignal): Promise<SearchResult> {
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

/** As far as Kerberos lets two clocks be apart (RFC 4120 §3.1.3). */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** A request for a certificate whose answer is not known. */
export interface PendingRequest {
  readonly request: SigningRequest;
  /** When it was sent. */
  readonly since: Date;
  /** Origin of the server that had it last; it knows first. */
  readonly server?: string;
}

/** What a search for the certificate of a lost request finds. */
export type SearchResult =
  | { readonly found: 'one'; readonly certificate: IssuedCertificate }
  /** None that FreeIPA has now. */
  | { readonly found: 'none' }
  /** Several, or too many to see all. */
  | { readonly found: 'unclear' };

/**
 * Finds the certificate that FreeIPA made of a request when its answer was
 * lost: made for the same user and key, since the request was sent, and not
 * already the answer to another request.
 */
export class IssuedSearch {
  readonly #servers: FreeIpaServers;
  readonly #cacn: string;
  /** Serial numbers of the answers of late, which belong to their requests. */
  readonly #answered = new LRUCache<string, true>({
    max: 10_000,
    ttl: 2 * CLOCK_SKEW_MS,
  });

  constructor(options: {
    readonly servers: FreeIpaServers;
    readonly cacn: string;
  }) {
    this.#servers = options.servers;
    this.#cacn = options.cacn;
  }

  /** Notes that a certificate is the answer to a request. */
  answered({ certificate }: IssuedCertificate): void {
    this.#answered.set(new X509Certificate(certificate).serialNumber, true);
  }

  /**
   * Searches once.
   *
   * @param signal - aborts the search.
   * @throws RpcError, NoResultError, AuthorityProtocolError when the search
   * fails.
   */
  async look(
    { request, since, server }: PendingRequest,
    signal: AbortSignal,
  ): Promise<SearchResult> {
    const { username } = request;
    const answer = await this.#servers.read(certFind({ username, since }), {
      first: server,
      signal,
    });
    const records = readList(answer);
    const candidates = records
      .filter(({ cacn }) => cacn === this.#cacn)
      .map(decodeCertificate)
      .filter(certificate => this.#isOf({ request, since, certificate }));
    if (candidates.length === 1) {
      return { found: 'one', certificate: candidates[0] };
    }
    return candidates.length === 0 && records.length < CERT_FIND_LIMIT
      ? { found: 'none' }
      : { found: 'unclear' };
  }

  #isOf(options: {
    readonly request: SigningRequest;
    readonly since: Date;
    readonly certificate: IssuedCertificate;
  }): boolean {
    const { request, since, certificate } = options;
    const { publicKey, serialNumber, validFromDate } = new X509Certificate(
      certificate.certificate,
    );
    return (
      publicKey.equals(keyOf(request)) &&
      validFromDate.getTime() >= since.getTime() - CLOCK_SKEW_MS &&
      !this.#answered.has(serialNumber)
    );
  }
}

/** The public key of a request. */
export function keyOf({ publicKey }: Pick<SigningRequest, 'publicKey'>) {
  return createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
}

function readList({ result }: RpcRecord): readonly RpcRecord[] {
  if (!Array.isArray(result) || !result.every(isRpcRecord)) {
    throw new AuthorityProtocolError(
      'FreeIPA answered cert_find without a list',
    );
  }
  return result;
}
