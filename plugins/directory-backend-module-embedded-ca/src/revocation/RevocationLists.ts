import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  AuthorityUnavailableError,
  type HoldRequest,
  type ReleaseRequest,
  type RevocationRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  SignerRefusalError,
  SignerUnavailableError,
} from '@directory-gateway/ca';
import { metrics } from '@opentelemetry/api';
import { backdated } from '../certificates/validity';
import { type Issuers, nameOf } from '../issuers/Issuers';
import type { RevocationListState, RevocationStore } from './RevocationStore';

/**
 * Maximum number of attempts to sign a CRL. The signer refuses a CRL number that
 * another process has used since this process read the last number.
 */
const MAX_REFUSALS = 5;

/** Options of {@link RevocationLists}. */
export interface RevocationListsOptions {
  readonly issuers: Issuers;
  readonly revocations: RevocationStore;
  /** Validity of a CRL in milliseconds. */
  readonly validityMs: number;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Revokes and suspends certificates and signs the CRLs (RFC 5280 §5), one for
 * each issuer: after each change, and after half of the last CRL's validity.
 */
export class RevocationLists {
  readonly #options: RevocationListsOptions;
  readonly #now: () => number;
  /** When the last CRL on record expires, by id of the issuer. */
  readonly #nextUpdates = new Map<string, Date>();
  /** By issuer: the last renewal, and a renewal that has not started yet. */
  readonly #renewals = new Map<
    string,
    { last: Promise<void>; next?: Promise<void> }
  >();

  constructor(options: RevocationListsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    metrics
      .getMeter('directory')
      .createObservableGauge('directory.ca.crl.next_update', {
        description: 'Seconds until the CRL of an issuer expires',
        unit: 's',
      })
      .addCallback(result => {
        for (const [id, nextUpdate] of this.#nextUpdates) {
          result.observe((nextUpdate.getTime() - this.#now()) / 1000, {
            issuer: nameOf({ id }),
          });
        }
      });
  }

  /**
   * Returns the last CRL of an issuer, DER, also on an instance that cannot
   * sign.
   *
   * @throws AuthorityUnavailableError when there is none, or the database is not
   *   available.
   */
  async read(issuerId: string): Promise<Buffer> {
    let list: Buffer | undefined;
    try {
      list = await this.#options.revocations.readList(issuerId);
    } catch (error) {
      throw new AuthorityUnavailableError('The CRL cannot be read', error);
    }
    if (!list) {
      throw new AuthorityUnavailableError('No CRL has been signed yet');
    }
    return list;
  }

  /**
   * Records a revocation and signs a CRL with it. The first revocation of a
   * certificate is kept; a serial number without a certificate is ignored.
   */
  async revoke(request: RevocationRequest): Promise<void> {
    const { revocations } = this.#options;
    const revokedAt = new Date(this.#now());
    if (await revocations.revoke({ ...request, revokedAt })) {
      await this.#renewAfter(`Certificate ${request.serialNumber} was revoked`);
    }
  }

  /** Records a hold and signs a CRL with it. */
  async hold(request: HoldRequest): Promise<void> {
    const { revocations } = this.#options;
    const heldAt = new Date(this.#now());
    if (await revocations.hold({ ...request, heldAt })) {
      await this.#renewAfter(`Certificate ${request.serialNumber} was held`);
    }
  }

  /** Ends a hold and signs a CRL without it. */
  async release({ serialNumber }: ReleaseRequest): Promise<void> {
    if (await this.#options.revocations.release(serialNumber)) {
      await this.#renewAfter(`Certificate ${serialNumber} was released`);
    }
  }

  /**
   * Signs the CRLs that are due, of all issuers of this instance's signer.
   * Several instances may call this concurrently: each CRL number is used once,
   * and the slower instance checks again.
   *
   * @throws AuthorityUnavailableError when this instance cannot sign.
   */
  async renew(): Promise<void> {
    const { issuers } = await this.#options.issuers.require();
    const renewals = await Promise.allSettled(
      issuers.map(({ id }) => this.#renewShared(id)),
    );
    await this.observe();
    for (const renewal of renewals) {
      if (renewal.status === 'rejected') {
        throw renewal.reason;
      }
    }
  }

  /** Reads the expiration of the CRLs of all issuers, for the metric. */
  async observe(): Promise<void> {
    const { issuers, revocations } = this.#options;
    for (const { id } of issuers.recorded.values()) {
      const { current } = await revocations.findList(id);
      if (current) {
        this.#nextUpdates.set(id, current.nextUpdate);
      }
    }
  }

  async #renewAfter(change: string): Promise<void> {
    try {
      await this.renew();
    } catch (error) {
      // The maintenance task signs a new CRL when a change is missing.
      this.#options.logger.error(
        `${change}, but the CRL was not renewed: ${error}`,
      );
    }
  }

  /**
   * Calls during a renewal share the next one: signing a CRL for each of many
   * concurrent revocations would take quadratic time.
   */
  async #renewShared(issuerId: string): Promise<void> {
    const renewal = this.#renewals.get(issuerId) ?? { last: Promise.resolve() };
    this.#renewals.set(issuerId, renewal);
    if (!renewal.next) {
      const start = () => {
        renewal.next = undefined;
        return this.#renewIssuer(issuerId);
      };
      renewal.next = renewal.last.then(start, start);
      renewal.last = renewal.next;
    }
    await renewal.next;
  }

  async #renewIssuer(issuerId: string): Promise<void> {
    let refusals = 0;
    for (;;) {
      const state = await this.#options.revocations.findList(issuerId);
      try {
        if (await this.#signIfDue(issuerId, state)) {
          return;
        }
      } catch (error) {
        refusals += 1;
        if (!(error instanceof SignerRefusalError) || refusals > MAX_REFUSALS) {
          throw error;
        }
      }
    }
  }

  #isDue({ current, unlisted }: RevocationListState): boolean {
    if (!current || unlisted > 0) {
      return true;
    }
    const { thisUpdate, nextUpdate } = current;
    return this.#now() >= (thisUpdate.getTime() + nextUpdate.getTime()) / 2;
  }

  /** @returns false when a concurrent process was faster */
  async #signIfDue(
    issuerId: string,
    state: RevocationListState,
  ): Promise<boolean> {
    const { issuers, revocations, validityMs } = this.#options;
    const { signer, issuers: own } = await issuers.require();
    try {
      const { issuers: described } = await signer.describe();
      const crlNumber =
        described.find(({ id }) => id === issuerId)?.crlNumber ?? 0n;
      // An older database was restored, or a process ended before it recorded
      // the CRL: a CRL number never goes back.
      const isBehind = crlNumber > state.number;
      if (!isBehind && !this.#isDue(state)) {
        return true;
      }
      const now = this.#now();
      const request = {
        issuerId,
        number: (isBehind ? crlNumber : state.number) + 1n,
        thisUpdate: backdated(now),
        nextUpdate: new Date(now + validityMs),
        revoked: await revocations.listRevoked(issuerId, {
          notExpiredAt: state.current?.thisUpdate,
        }),
      };
      const list = await signer.signRevocationList(request);
      return await revocations.recordList({
        issuerId,
        number: request.number,
        previous: state.number,
        changes: state.changes,
        thisUpdate: request.thisUpdate,
        nextUpdate: request.nextUpdate,
        list,
      });
    } catch (error) {
      if (error instanceof SignerUnavailableError) {
        // Certificates are signed even without the key of an earlier issuer.
        if (issuerId === own[0].id) {
          issuers.reportFailure(error);
        }
        throw new AuthorityUnavailableError('The CRL was not signed', error);
      }
      throw error;
    }
  }
}
