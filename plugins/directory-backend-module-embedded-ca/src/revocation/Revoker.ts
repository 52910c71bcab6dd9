import type { LoggerService } from '@backstage/backend-plugin-api';
import type { RevocationOrder } from '@directory-gateway/backstage-plugin-directory-node';
import type { Revocation } from '../certificates/CertificateRecord';
import type { RevocationLists } from './RevocationLists';
import type { RevocationStore } from './RevocationStore';

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
  async revoke(order: RevocationOrder): Promise<Revocation | undefined> {
    const revocation = await this.#revocations.revoke({
      ...order,
      revokedAt: new Date(this.#now()),
    });
    if (revocation) {
      await this.#publish(order);
    }
    return revocation;
  }

  async #publish({ serialNumber }: RevocationOrder): Promise<void> {
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
