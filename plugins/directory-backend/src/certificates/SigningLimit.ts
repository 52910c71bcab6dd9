import { createHash } from 'node:crypto';
import {
  RateLimiterPostgres,
  RateLimiterRes,
  RateLimiterSQLite,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import { actorOf, type Caller } from '../directory/Caller';
import type { CertificatesConfig } from './CertificatesConfig';
import { SigningLimitExceededError } from './errors';
import type { Database } from '@directory-gateway/backstage-plugin-directory-node';

const TABLE = 'directory_signing_limits';

/**
 * Limits the signing requests of a caller. They are counted in the database, by
 * one statement, so that the limit applies to all Backstage instances.
 */
export class SigningLimit {
  readonly #limiter: RateLimiterAbstract;

  private constructor(limiter: RateLimiterAbstract) {
    this.#limiter = limiter;
  }

  /** Creates the table if it does not exist. */
  static async create(options: {
    readonly database: Database;
    readonly limit: CertificatesConfig['limit'];
  }): Promise<SigningLimit> {
    const { database, limit } = options;
    const Limiter =
      database.client.config.client === 'pg'
        ? RateLimiterPostgres
        : RateLimiterSQLite;
    const create = () =>
      new Promise<RateLimiterAbstract>((resolve, reject) => {
        const limiter: RateLimiterAbstract = new Limiter(
          {
            storeClient: database,
            storeType: 'knex',
            tableName: TABLE,
            points: limit.requests,
            duration: Math.ceil(limit.perMs / 1000),
          },
          (error?: unknown) => (error ? reject(error) : resolve(limiter)),
        );
      });
    // PostgreSQL's "create table if not exists" fails when another process
    // creates the table at the same time; then it exists.
    return new SigningLimit(await create().catch(create));
  }

  /** @throws SigningLimitExceededError when the caller exceeds the limit. */
  async consume(caller: Caller): Promise<void> {
    try {
      await this.#limiter.consume(keyOf(caller));
    } catch (reason) {
      throw reason instanceof RateLimiterRes
        ? new SigningLimitExceededError(reason.msBeforeNext)
        : reason;
    }
  }
}

/**
 * Key of a user, the same for all types of credentials. Hashed because the
 * library's table has 255 characters for it on PostgreSQL.
 */
function keyOf(caller: Caller): string {
  const key = caller.account?.dn ?? actorOf(caller);
  return createHash('sha256').update(key).digest('hex');
}
