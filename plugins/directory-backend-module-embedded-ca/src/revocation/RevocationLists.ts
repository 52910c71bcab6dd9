import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  AuthorityUnavailableError,
  type RevocationRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { CurrentAuthority } from '../authority/CurrentAuthority';
import { backdated } from '../authority/SigningAuthority';
import type { RevocationListState, RevocationStore } from './RevocationStore';

/** Options of {@link RevocationLists}. */
export interface RevocationListsOptions {
  readonly currentAuthority: CurrentAuthority;
  readonly revocations: RevocationStore;
  /** Validity of a CRL in milliseconds. */
  readonly validityMs: number;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Revokes certificates and signs the CRLs (RFC 5280 §5): one after each
 * revocation, and one after half of the validity of the last one.
 */
export class RevocationLists {
  readonly #options: RevocationListsOptions;
  readonly #now: () => number;

  constructor(options: RevocationListsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Returns the last CRL, DER, also on an instance without the key.
   *
   * @throws AuthorityUnavailableError when there is none, or the database is not
   *   available.
   */
  async read(): Promise<Buffer> {
    let list: Buffer | undefined;
    try {
      list = await this.#options.revocations.findCurrentList();
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
   * certificate is kept; a serial number without certificate is ignored.
   */
  async revoke(request: RevocationRequest): Promise<void> {
    const { revocations, logger } = this.#options;
    const revocation = await revocations.revoke({
      ...request,
      revokedAt: new Date(this.#now()),
    });
    if (!revocation) {
      return;
    }
    try {
      await this.renew();
    } catch (error) {
      // The maintenance task signs the CRL when a revocation is missing in it.
      logger.error(
        `Certificate ${request.serialNumber} was revoked, but the CRL was not renewed: ${error}`,
      );
    }
  }

  /**
   * Signs a new CRL when it is due. Several instances may do so concurrently:
   * each CRL number is used once, and the slower instance checks again.
   *
   * @throws AuthorityUnavailableError when this instance cannot sign.
   */
  async renew(): Promise<void> {
    const { currentAuthority, revocations } = this.#options;
    const { id } = currentAuthority.get();
    for (;;) {
      const state = await revocations.findList(id);
      if (!this.#isDue(state) || (await this.#signNext(state))) {
        return;
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

  async #signNext(state: RevocationListState): Promise<boolean> {
    const { currentAuthority, revocations, validityMs } = this.#options;
    const { id, issuer } = currentAuthority.get();
    const now = this.#now();
    const number = state.number + 1;
    const thisUpdate = backdated(now);
    const nextUpdate = new Date(now + validityMs);
    const revoked = await revocations.listRevoked(id, {
      notExpiredAt: state.current?.thisUpdate,
    });
    const list = issuer.signRevocationList({
      number: BigInt(number),
      thisUpdate,
      nextUpdate,
      revoked,
    });
    return await revocations.recordList({
      authorityId: id,
      number,
      thisUpdate,
      nextUpdate,
      revocations: state.revocations,
      list,
    });
  }
}
