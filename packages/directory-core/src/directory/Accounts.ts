import { metrics } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import type { Caller } from './Caller';
import {
  DirectoryTimeoutError,
  DirectoryUnavailableError,
  type Reachability,
} from './errors';
import type {
  AccountSource,
  Principal,
  PrincipalLookup,
  PrincipalQuery,
  VerifiedPrincipal,
} from './Principal';

/** Leaves one second of the documented five for the search. */
const MAX_AGE_MS = 4000;

/** Size of each cache. */
const MAX_CACHED = 10_000;

/** Maximum age of a lookup that verifies an account outside the replica. */
const MAX_LOOKUP_AGE_MS = 5 * 60_000;

/** The same for a user who signs in to the portal. */
const MAX_SIGN_IN_AGE_MS = 60 * 60_000;

/** Port to the user accounts of the replica. */
export interface AccountReplica {
  /**
   * Time, from `performance.now()`, as of which the replica matches the
   * directory; `undefined` while it must not be read.
   */
  readonly confirmedAt: number | undefined;
  /** Key of an entry, which is the `dn` of the replica's principals. */
  keyOf(dn: string): string;
  /** Returns all users that a lookup finds. */
  find(query: PrincipalQuery): readonly Principal[];
  /** Returns the user with a key. */
  get(key: string): Principal | undefined;
  /**
   * Returns a principal with the stricter values of itself and of the replica;
   * `undefined` for a user that the replica does not have.
   */
  strictest(principal: Principal): Principal | undefined;
  /**
   * The same for the result of a live lookup, if it may be older than the
   * replica. Otherwise returns the principal.
   */
  reconcile(principal: Principal): Principal | undefined;
}

/** A finished lookup of an entry. */
interface LastLookup {
  /** `undefined`: the entry was not found. */
  readonly principal: Principal | undefined;
  /** Time of `performance.now()`. */
  readonly at: number;
}

/** The entry that a query last found. */
interface LastFound {
  /** Key of the entry; empty for none. */
  readonly key: string;
  /** Number of discards when the search began. */
  readonly discards: number;
}

interface AccountsOptions {
  readonly principals: PrincipalLookup;
  readonly servers: { readonly reachability: Reachability };
  readonly replica: AccountReplica;
}

/**
 * Looks up the accounts of callers in LDAP. A result is cached for 4 seconds,
 * so that a script's requests do not cause a search each, and a lock takes
 * effect within 5 seconds.
 *
 * While no directory server responds and the replica may be read, callers are
 * verified by the replica or by their last lookup. Users of the replica are
 * verified by the newer of the two, with the stricter lock and expiry.
 */
export class Accounts {
  readonly #options: AccountsOptions;
  /** Live results only, by query. */
  readonly #cache = new LRUCache<string, VerifiedPrincipal>({
    max: MAX_CACHED,
    ttl: MAX_AGE_MS,
  });
  /** Searches in progress, which several requests may share, by query. */
  readonly #searches = new Map<
    string,
    Promise<VerifiedPrincipal | undefined>
  >();
  /** By the entry's key. */
  readonly #lastLookups = new LRUCache<string, LastLookup>({ max: MAX_CACHED });
  /** Keys of the cache for the queries that found an entry, by its key. */
  readonly #queries = new LRUCache<string, Set<string>>({ max: MAX_CACHED });
  /** Number of the last discard of an entry's results, by its key. */
  readonly #discarded = new LRUCache<string, number>({ max: MAX_CACHED });
  #discards = 0;
  /** What a query last found. */
  readonly #found = new LRUCache<string, LastFound>({ max: MAX_CACHED });
  readonly #lookups = metrics
    .getMeter('directory')
    .createCounter('directory.accounts.lookups', {
      description:
        'Account lookups that were not served from the cache, by source',
    });

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /**
   * Discards cached results. Called in the turn in which the replica changes,
   * so that decisions are never older than lists.
   *
   * @param keys - keys of the changed entries
   */
  discard(keys: readonly string[]): void {
    const discard = ++this.#discards;
    for (const key of keys) {
      this.#discarded.set(key, discard);
      for (const query of this.#queries.get(key) ?? []) {
        this.#cache.delete(query);
      }
      this.#queries.delete(key);
    }
  }

  /**
   * Finds the account of a caller, including locked and expired ones.
   *
   * @throws as {@link PrincipalLookup.find}
   */
  find(query: PrincipalQuery): Promise<VerifiedPrincipal | undefined> {
    return this.#find(query, 'request');
  }

  /**
   * Finds the account of a user who signs in to the portal. While the directory
   * is unreachable, finds only users who were looked up within the last hour.
   */
  findForSignIn(query: PrincipalQuery): Promise<VerifiedPrincipal | undefined> {
    return this.#find(query, 'signIn');
  }

  /**
   * Finds an account in LDAP, without the cache.
   *
   * @throws as {@link PrincipalLookup.find}
   */
  async findLive(
    query: PrincipalQuery,
    context: { readonly signal: AbortSignal },
  ): Promise<VerifiedPrincipal | undefined> {
    const { principals, replica } = this.#options;
    const discards = this.#discards;
    const found = await principals.find(query, context);
    const principal = found && replica.reconcile(found);
    this.#recordLookup(query, principal, discards);
    return principal && this.#verified(principal, 'live');
  }

  /**
   * Requires a reachable directory and a live account of the caller, for
   * operations other than reads.
   *
   * @throws DirectoryUnavailableError when the directory is unreachable, or was
   *   unreachable when the caller was verified.
   */
  requireLive({ account }: Caller): void {
    const isLive = account === undefined || account.source === 'live';
    if (!isLive || this.#options.servers.reachability !== 'reachable') {
      throw unreachable();
    }
  }

  async #find(
    query: PrincipalQuery,
    purpose: 'request' | 'signIn',
  ): Promise<VerifiedPrincipal | undefined> {
    const key = cacheKey(query);
    const cached = this.#cache.get(key);
    if (cached) {
      return cached;
    }
    const { servers, replica } = this.#options;
    const isUnreachable = () => servers.reachability === 'unreachable';
    if (isUnreachable() && replica.confirmedAt !== undefined) {
      return this.#findWithoutDirectory(query, purpose, unreachable());
    }
    try {
      let search = this.#searches.get(key);
      if (!search) {
        search = this.#findNew(query).finally(() => this.#searches.delete(key));
        this.#searches.set(key, search);
      }
      return await search;
    } catch (error) {
      const isOutage =
        error instanceof DirectoryUnavailableError
          ? error.reason === 'unreachable'
          : error instanceof DirectoryTimeoutError && isUnreachable();
      if (isOutage) {
        return this.#findWithoutDirectory(query, purpose, error);
      }
      throw error;
    }
  }

  /**
   * Like {@link findLive}, but caches the result. Repeats a search whose result
   * was discarded in the meantime, because it may be older than the replica.
   */
  async #findNew(
    query: PrincipalQuery,
  ): Promise<VerifiedPrincipal | undefined> {
    for (;;) {
      const discards = this.#discards;
      // Several requests may share the search, and must not abort it.
      const found = await this.findLive(query, new AbortController());
      const key = found && this.#options.replica.keyOf(found.dn);
      const discarded = this.#discarded.get(key ?? '') ?? 0;
      if (discarded <= discards) {
        if (found) {
          this.#cache.set(cacheKey(query), found);
        }
        return found;
      }
    }
  }

  #recordLookup(
    query: PrincipalQuery,
    principal: Principal | undefined,
    discards: number,
  ): void {
    const { replica } = this.#options;
    const lookup = { principal, at: performance.now() };
    const name = cacheKey(query);
    if (principal) {
      const key = replica.keyOf(principal.dn);
      this.#lastLookups.set(key, lookup);
      this.#found.set(name, { key, discards });
      const queries = this.#queries.get(key) ?? new Set();
      this.#queries.set(key, queries.add(name));
    } else {
      const keys = replica.find(query).map(({ dn }) => dn);
      for (const key of [this.#found.get(name)?.key, ...keys]) {
        if (key) {
          this.#lastLookups.set(key, lookup);
        }
      }
      this.#found.set(name, { key: '', discards });
    }
  }

  /** Throws the error if neither the replica nor a lookup finds the account. */
  #findWithoutDirectory(
    query: PrincipalQuery,
    purpose: 'request' | 'signIn',
    error: unknown,
  ): VerifiedPrincipal {
    const { replica } = this.#options;
    const { confirmedAt } = replica;
    if (confirmedAt === undefined) {
      throw error;
    }
    const users = replica.find(query);
    const key = this.#lastKeyOf(query, users) ?? users[0]?.dn ?? '';
    const last = this.#lastLookups.get(key);
    const age = last ? performance.now() - last.at : Infinity;
    // A lookup that is newer than the replica must have found the name, too.
    const isNewer = last !== undefined && last.at >= confirmedAt;
    const lookedUp = last?.principal;
    const hasName = lookedUp !== undefined && isNameOf(lookedUp, query);
    if (users.length === 1 && users[0].dn === key) {
      const isKnown = lookedUp !== undefined && age <= MAX_SIGN_IN_AGE_MS;
      if (purpose === 'request' || isKnown) {
        if (!isNewer) {
          return this.#verified(users[0], 'replica');
        }
        const principal = hasName && replica.strictest(lookedUp);
        if (principal) {
          return this.#verified(principal, 'lastLookup');
        }
      }
    } else if (users.length === 0 && purpose === 'request') {
      const isOutside = lookedUp?.served === false && !replica.get(key);
      const principal =
        isOutside && hasName && age <= MAX_LOOKUP_AGE_MS
          ? replica.strictest(lookedUp)
          : undefined;
      if (principal) {
        return this.#verified(principal, 'lastLookup');
      }
    }
    throw error;
  }

  /**
   * Returns the key that a query last found; empty for none. Ignores that it
   * found none if the replica's user was written since, for example added.
   */
  #lastKeyOf(
    query: PrincipalQuery,
    users: readonly Principal[],
  ): string | undefined {
    const found = this.#found.get(cacheKey(query));
    const isOutdated =
      found?.key === '' &&
      users.some(({ dn }) => (this.#discarded.get(dn) ?? 0) > found.discards);
    return isOutdated ? undefined : found?.key;
  }

  #verified(principal: Principal, source: AccountSource): VerifiedPrincipal {
    this.#lookups.add(1, { source });
    return { ...principal, source };
  }
}

function cacheKey(query: PrincipalQuery): string {
  return 'principal' in query
    ? `principal:${query.principal}`
    : `username:${query.username.toLowerCase()}`;
}

/** Whether a principal found by another name has this one, too. */
function isNameOf(principal: Principal, query: PrincipalQuery): boolean {
  return 'principal' in query
    ? principal.principalNames.includes(query.principal)
    : principal.username?.toLowerCase() === query.username.toLowerCase();
}

function unreachable(): DirectoryUnavailableError {
  return new DirectoryUnavailableError('No directory server responds', {
    reason: 'unreachable',
  });
}
