import {
  Batch,
  type Database,
} from '@directory-gateway/backstage-plugin-directory-node';
import { createHash } from 'node:crypto';
import { actorOf, type Caller } from '@directory-gateway/directory-core';
import type { CertificatesConfig } from './CertificatesConfig';
import { SigningLimitExceededError } from './errors';

const TABLE = 'directory_signing_limits';

/** Length of a period, in milliseconds. */
const PERIOD_MS = 60_000;

/** A row of the table: the requests from a caller in the current period. */
interface Count {
  readonly key: string;
  /** Number of requests, including refused ones. */
  readonly points: number;
  /**
   * End of the period, in milliseconds since 1970; PostgreSQL returns a string.
   */
  readonly expire: number | string;
}

/** Number of the request in its caller's period, starting at 1. */
interface Position {
  readonly number: number;
  readonly expire: number;
}

/**
 * Limits the total of a caller's signing requests and revocations of own
 * certificates. They are counted in the database, by one statement for
 * concurrent requests, so that the limit applies across all Backstage
 * instances.
 */
export class SigningLimit {
  readonly #database: Database;
  readonly #limit: CertificatesConfig['limit'];
  readonly #requests = new Batch((keys: readonly string[]) =>
    this.#count(keys),
  );

  constructor(options: {
    readonly database: Database;
    readonly limit: CertificatesConfig['limit'];
  }) {
    this.#database = options.database;
    this.#limit = options.limit;
  }

  /** Deletes the counts of periods that have ended. */
  async deleteExpired(): Promise<void> {
    await this.#database(TABLE).where('expire', '<', Date.now()).delete();
  }

  /**
   * Counts a request.
   *
   * @throws SigningLimitExceededError when the caller exceeds the limit.
   */
  async consume(caller: Caller): Promise<void> {
    const { number, expire } = await this.#requests.add(keyOf(caller));
    if (number > this.#limit.requests) {
      throw new SigningLimitExceededError(Math.max(0, expire - Date.now()));
    }
  }

  async #count(keys: readonly string[]): Promise<Position[]> {
    const database = this.#database;
    const now = Date.now();
    const added = new Map<string, number>();
    for (const key of keys) {
      added.set(key, (added.get(key) ?? 0) + 1);
    }
    const expire = now + PERIOD_MS;
    // All processes lock rows in the same order, which prevents deadlocks.
    const rows = [...added.keys()]
      .sort()
      .map(key => ({ key, points: added.get(key), expire }));
    const counts: readonly Count[] = await database(TABLE)
      .insert(rows)
      .onConflict('key')
      .merge({
        points: database.raw(
          `excluded.points + case when ${TABLE}.expire > ? then ${TABLE}.points else 0 end`,
          [now],
        ),
        expire: database.raw(
          `case when ${TABLE}.expire > ? then ${TABLE}.expire else excluded.expire end`,
          [now],
        ),
      })
      .returning(['key', 'points', 'expire']);
    const byKey = new Map(counts.map(count => [count.key, count]));
    return keys.map(key => {
      const count = byKey.get(key)!;
      const remaining = added.get(key)! - 1;
      added.set(key, remaining);
      return {
        number: count.points - remaining,
        expire: Number(count.expire),
      };
    });
  }
}

/**
 * Returns the key of a user, which is the same for all types of credentials. It
 * is hashed because the table column has 255 characters.
 */
function keyOf(caller: Caller): string {
  const key = caller.account?.dn ?? actorOf(caller);
  return createHash('sha256').update(key).digest('hex');
}
