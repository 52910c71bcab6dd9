import { toError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  OutcomeUnknownError,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createHash } from 'node:crypto';
import { decodeCertificate, describe } from './decodeCertificate';
import {
  FreeIpaError,
  MissingPermissionError,
  readFailure,
  signingFailure,
} from './errors';
import type { FreeIpaOptions, FreeIpaServers } from './FreeIpaServers';
import { CERT_FIND_LIMIT, certFind, certRequest, isRpcRecord } from './rpc';

/**
 * Pause between searches, which doubles up to the maximum: Dogtag takes about a
 * second to sign.
 */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 2000;

/** Clock skew that Kerberos tolerates (RFC 4120 §3.1.3). */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** A request for a certificate whose response was lost. */
interface LostRequest {
  readonly request: SigningRequest;
  /** Time at which it was sent first. */
  readonly since: Date;
}

/**
 * The certificate of a lost request. `none`: FreeIPA currently has none;
 * `unclear`: there are several or too many to list, or the search failed.
 */
type SearchResult = SignedCertificate | 'none' | 'unclear';

/**
 * Requests certificates, and never a second one for a lost response: the
 * request is not repeated, because a search without a result does not prove
 * that FreeIPA has finished processing it. The certificate is searched for, and
 * searched for again when the gateway repeats the request. It belongs to the
 * lost request when it is for the same user and key, was issued after the
 * request was sent, and is neither revoked nor recorded by the gateway, which
 * signs one request for a key at a time.
 */
export class Signer {
  readonly #options: FreeIpaOptions & { readonly servers: FreeIpaServers };

  constructor(options: FreeIpaOptions & { readonly servers: FreeIpaServers }) {
    this.#options = options;
  }

  /**
   * Requests a certificate, unless an earlier attempt has resulted in one.
   *
   * @throws OutcomeUnknownError when that is not known.
   */
  async sign(request: SigningRequest): Promise<SignedCertificate> {
    const { attemptedAt: since, principal } = request;
    const message = `An earlier certificate request for ${principal} is still pending`;
    const found =
      since && (await this.#resolve({ request, since }, { message }));
    return found ?? (await this.#request(request));
  }

  async #request(request: SigningRequest): Promise<SignedCertificate> {
    const { servers, config } = this.#options;
    const since = new Date();
    try {
      const command = certRequest(request, config.cacn);
      const { result } = await servers.run(command, { once: true });
      const signed = decodeCertificate(result);
      if (describe(signed).publicKey.sha256 !== keyOf(request)) {
        throw new AuthorityProtocolError(
          'FreeIPA returned a certificate for another key',
        );
      }
      return signed;
    } catch (error) {
      if (error instanceof FreeIpaError && error.executed === 'no') {
        throw await this.#explain(error, request.username);
      }
      if (
        !(error instanceof FreeIpaError) &&
        !(error instanceof AuthorityProtocolError)
      ) {
        throw error;
      }
      return await this.#find({ request, since }, error);
    }
  }

  /**
   * Searches for the certificate of a request that has just failed.
   *
   * @throws OutcomeUnknownError when it is not found in time.
   * @throws AuthorityProtocolError when there is certainly none.
   */
  async #find(
    sent: LostRequest,
    error: FreeIpaError | AuthorityProtocolError,
  ): Promise<SignedCertificate> {
    const message = `It is not known whether FreeIPA signed a request for ${sent.request.principal}: ${error.message}`;
    this.#options.logger.warn(`${message}. Searching for the certificate`);
    const repeat =
      error instanceof FreeIpaError && error.executed === 'pending';
    const found = await this.#resolve(sent, { message, repeat });
    if (!found) {
      throw new AuthorityProtocolError(error.message);
    }
    return found;
  }

  /**
   * Returns the certificate of a lost request, or `undefined` if there is none.
   *
   * @param options - `repeat`: whether to search until the time is up, because
   *   FreeIPA may still be signing; default: false
   * @throws OutcomeUnknownError with the message when the result is not clear.
   */
  async #resolve(
    lost: LostRequest,
    options: { readonly message: string; readonly repeat?: boolean },
  ): Promise<SignedCertificate | undefined> {
    const { message, repeat = false } = options;
    const result = await this.#search(lost, repeat);
    if (result === 'unclear' || (result === 'none' && repeat)) {
      throw new OutcomeUnknownError(message);
    }
    return result === 'none' ? undefined : result;
  }

  async #search(lost: LostRequest, repeat: boolean): Promise<SearchResult> {
    const { clock, config, logger } = this.#options;
    const ms = config.lostResponseSearchMs;
    const signal = clock.timeout(ms);
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      let result: SearchResult = 'unclear';
      try {
        result = await this.#query(lost, signal);
      } catch (error) {
        const reason = signal.aborted
          ? `no response within ${ms} ms`
          : toError(error).message;
        logger.warn(
          `Searching for a certificate after a lost response failed: ${reason}`,
        );
      }
      if (!repeat || typeof result === 'object') {
        return result;
      }
      await clock.delay(pause, signal);
      if (signal.aborted) {
        return result;
      }
      pause = Math.min(2 * pause, MAX_PAUSE_MS);
    }
  }

  /**
   * Searches on every server: the one that has signed may not have replicated
   * the certificate, and it is not known which one it was when the gateway
   * repeats the request. A server that fails is ignored while another one
   * responds: users must not have to wait until it is repaired.
   */
  async #query(
    { request, since }: LostRequest,
    signal: AbortSignal,
  ): Promise<SearchResult> {
    const { servers, config } = this.#options;
    const command = certFind(request.username, since);
    const responses = await servers.runOnEach(command, signal);
    const lists = responses.map(({ result }) => {
      if (!Array.isArray(result)) {
        throw new AuthorityProtocolError(
          'FreeIPA did not return a list for cert_find',
        );
      }
      return result;
    });
    const candidates = new Map<bigint, SignedCertificate>();
    const excluded = new Set(request.recorded);
    for (const record of lists.flat()) {
      if (!isRpcRecord(record) || record.cacn !== config.cacn) {
        continue;
      }
      const found = decodeCertificate(record);
      const { publicKey, notBefore, serialNumber } = describe(found);
      if (found.revocation) {
        excluded.add(serialNumber);
      } else if (
        publicKey.sha256 === keyOf(request) &&
        notBefore >= since.getTime() - CLOCK_SKEW_MS
      ) {
        candidates.set(serialNumber, found);
      }
    }
    excluded.forEach(serialNumber => candidates.delete(serialNumber));
    const [only] = candidates.values();
    if (candidates.size === 1) {
      return only;
    }
    // A server that has not responded may have the certificate.
    return candidates.size === 0 &&
      !signal.aborted &&
      lists.every(list => list.length < CERT_FIND_LIMIT)
      ? 'none'
      : 'unclear';
  }

  /**
   * Returns the error of a request that was not executed. If the account may not
   * write the certificates of a user, FreeIPA protects the user as a member of
   * `admins`, or the account lacks a permission.
   */
  async #explain(error: FreeIpaError, username: string): Promise<Error> {
    if (!/'userCertificate' attribute/i.test(error.text)) {
      return signingFailure(error);
    }
    const { servers, config, clock } = this.#options;
    const signal = clock.timeout(config.lostResponseSearchMs);
    const command = { method: 'user_show', args: [username] };
    try {
      const { result } = await servers.run(command, { signal });
      const { memberof_group: direct, memberofindirect_group: indirect } =
        isRpcRecord(result) ? result : {};
      return [direct, indirect].flat().includes('admins')
        ? new AuthorityRefusalError(
            'FreeIPA does not let the gateway issue certificates to members of the group "admins". An administrator can issue one with "ipa cert-request".',
            { kind: 'forbidden' },
          )
        : new MissingPermissionError('System: Manage User Certificates', error);
    } catch (failure) {
      return readFailure(failure) ?? signingFailure(error);
    }
  }
}

/** Returns the SHA-256 of the key of a request, which its certificate has. */
function keyOf({ publicKey }: SigningRequest): string {
  return createHash('sha256').update(publicKey).digest('hex');
}
