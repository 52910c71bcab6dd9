import type { DatabaseService } from '@backstage/backend-plugin-api';
import { createHash } from 'node:crypto';
import {
  RateLimiterPostgres,
  RateLimiterRes,
  RateLimiterSQLite,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import { actorOf, type Caller } from '../directory/Caller';
import { TooManyRequestsError } from '../http/response/apiErrors';
import type { CertificatesConfig } from './CertificatesConfig';

const TABLE = 'directory_signing_limits';

/**
 * How often one caller may ask for a signature, counted in the database, so
 * that it holds over all processes of the portal: one statement counts and
 * reads, and a process that dies leaves nothing that would have to be undone.
 */
export class SigningLimit {
  readonly #limiter: RateLimiterAbstract;

  private constructor(limiter: RateLimiterAbstract) {
    this.#limiter = limiter;
  }

  /** Makes its table when it is not there. */
  static async create(options: {
    readonly database: Awaited<ReturnType<DatabaseService['getClient']>>;
    readonly limit: CertificatesConfig['limit'];
  }): Promise<SigningLimit> {
    const { database } = options;
    const isPostgres = database.client.config.client === 'pg';
    const create = () =>
      new Promise<RateLimiterAbstract>((resolve, reject) => {
        const Limiter = isPostgres ? RateLimiterPostgres : RateLimiterSQLite;
        const made: RateLimiterAbstract = new Limiter(
          {
            storeClient: database,
            storeType: 'knex',
            tableName: TABLE,
            points: options.limit.requests,
            duration: Math.ceil(options.limit.perMs / 1000),
          },
          (error?: unknown) => (error ? reject(error) : resolve(made)),
        );
      });
    // PostgreSQL's "create table if not exists" fails when another process
    // creates the table at the same time; then it exists.
    return new SigningLimit(await create().catch(create));
  }

  /** @throws TooManyRequestsError when the caller asks too often. */
  async consume(caller: Caller): Promise<void> {
    try {
      await this.#limiter.consume(keyOf(caller));
    } catch (reason) {
      if (reason instanceof RateLimiterRes) {
        throw new TooManyRequestsError(reason.msBeforeNext);
      }
      throw reason;
    }
  }
}

/**
 * A user counts once, by whichever credential. Hashed because the library's
 * table has room for 255 characters on PostgreSQL.
 */
function keyOf(caller: Caller): string {
  const key = caller.account?.dn ?? actorOf(caller);
  return createHash('sha256').update(key).digest('hex');
}
