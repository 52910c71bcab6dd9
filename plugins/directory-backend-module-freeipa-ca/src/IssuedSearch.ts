import { createPublicKey, X509Certificate } from 'node:crypto';
import {
  AuthorityProtocolError,
  type IssuedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { LRUCache } from 'lru-cache';
import { CERT_FIND_LIMIT, certFind } from './commands';
import { decodeCertificate } from './decodeCertificate';
import type { FreeIpaServers } from './rpc/FreeIpaServers';
import { isRpcRecord, type RpcRecord } from './rpc/RpcValue';

/** As far as Kerberos lets two clocks be apart (RFC 4120 §3.1.3). */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** A request for a certificate whose answer is not known. */
export interface LostRequest {
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
   * @throws RpcError, NoVerdictError, AuthorityProtocolError when the search
   * fails.
   */
  async look(
    { request, since, server }: LostRequest,
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
