import {
  AuthorityUnavailableError,
  type RevocationRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { CurrentAuthority } from '../authority/CurrentAuthority';
import { backdated } from '../authority/SigningAuthority';
import type { RevocationListState, RevocationStore } from './RevocationStore';
import type { LoggerService } from '@backstage/backend-plugin-api';
import type { Revocation } from '../certificates/CertificateStore';

/** What {@link RevocationLists} are made of. */
export interface RevocationListsOptions {
  readonly keeper: CurrentAuthority;
  readonly revocations: RevocationStore;
  /** From a list's beginning to its end. */
  readonly validityMs: number;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
}

/**
 * The authority's revocation lists (RFC 5280 §5): one after each revocation,
 * and one when half of the last one's time is over.
 */
export class RevocationLists {
  readonly #options: RevocationListsOptions;
  readonly #now: () => number;

  constructor(options: RevocationListsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * The last list, DER, whoever signed it: also a node without the key tells
   * what is revoked.
   *
   * @throws AuthorityUnavailableError when there is none, or it cannot be read.
   */
  async read(): Promise<Buffer> {
    let list: Buffer | undefined;
    try {
      list = await this.#options.revocations.findCurrentList();
    } catch (error) {
      throw new AuthorityUnavailableError(
        'The revocation list cannot be read',
        error,
      );
    }
    if (!list) {
      throw new AuthorityUnavailableError('There is no revocation list yet');
    }
    return list;
  }

  /**
   * Signs a new list when the last one is not enough. Several nodes may do so
   * at once: the number of a list is given once, and whoever is late looks
   * again.
   *
   * @throws AuthorityUnavailableError when this node must not sign.
   */
  async renew(): Promise<void> {
    const { keeper, revocations } = this.#options;
    const { id } = keeper.current;
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
    const { keeper, revocations, validityMs } = this.#options;
    const { id, issuer } = keeper.current;
    const now = this.#now();
    const revoked = await revocations.listRevoked(id, {
      notOverBefore: state.current?.thisUpdate,
    });
    const fields = {
      thisUpdate: backdated(now),
      nextUpdate: new Date(now + validityMs),
    };
    const list = issuer.signRevocationList({
      ...fields,
      number: BigInt(state.number + 1),
      revoked,
    });
    return await revocations.recordList({
      ...fields,
      authorityId: id,
      number: state.number + 1,
      revocations: state.revocations,
      list,
    });
  }
}

/** Revokes certificates, and has the revocation list tell of it. */
export class Revoker {
  readonly #revocations: RevocationStore;
  readonly #lists: RevocationLists;
  readonly #logger: LoggerService;
  readonly #now: () => number;

  constructor(options: {
    readonly revocations: RevocationStore;
    readonly lists: RevocationLists;
    readonly logger: LoggerService;
    /** Milliseconds since 1970. Default: the machine's clock. */
    readonly now?: () => number;
  }) {
    this.#revocations = options.revocations;
    this.#lists = options.lists;
    this.#logger = options.logger;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Puts a revocation on record. Of several for one certificate the first
   * stands.
   *
   * @returns the one on record, `undefined` when there is no such certificate
   */
  async revoke(order: RevocationRequest): Promise<Revocation | undefined> {
    const revocation = await this.#revocations.revoke({
      ...order,
      revokedAt: new Date(this.#now()),
    });
    if (revocation) {
      await this.#publish(order);
    }
    return revocation;
  }

  async #publish({ serialNumber }: RevocationRequest): Promise<void> {
    try {
      await this.#lists.renew();
    } catch (error) {
      // It is revoked, and the list follows: the task that renews it sees that
      // a revocation is missing there.
      this.#logger.error(
        `Certificate ${serialNumber} is revoked, and not on the revocation list yet: ${error}`,
      );
    }
  }
}
