import { LRUCache } from 'lru-cache';
import type { Principal, PrincipalLookup, PrincipalQuery } from './Principal';

/** Leaves one second of the documented five for the search. */
const MAX_AGE_MS = 4000;

/**
 * Looks up each caller at most once in 4 seconds: an API client that sends
 * thousands of requests does not cause a search for each, and a lock takes
 * effect within 5 seconds.
 */
export class CachedPrincipals implements PrincipalLookup {
  readonly #cache: LRUCache<
    string,
    Principal,
    { readonly query: PrincipalQuery }
  >;

  constructor(principals: PrincipalLookup) {
    this.#cache = new LRUCache({
      max: 10_000,
      ttl: MAX_AGE_MS,
      // Several requests may wait for one search, which none of them aborts.
      fetchMethod: (_key, _stale, { context }) =>
        principals.find(context.query, {
          signal: new AbortController().signal,
        }),
    });
  }

  /** As {@link PrincipalLookup.find}; the result is at most 5 seconds old. */
  async find(query: PrincipalQuery): Promise<Principal | undefined> {
    const key =
      'principal' in query
        ? `principal:${query.principal}`
        : `username:${query.username.toLowerCase()}`;
    return this.#cache.fetch(key, { context: { query } });
  }
}
