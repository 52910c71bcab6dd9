import { LRUCache } from 'lru-cache';
import type { Directory, PrincipalQuery } from './Directory';
import type { Principal } from './Principal';

/** Leaves a second of the promised five for the search itself. */
const MAX_AGE_MS = 4000;

/**
 * Looks callers up, at most once in a few seconds each: a program that calls
 * thousands of times should not cost the directory a search every time, and a
 * lock must take effect at once as people understand it.
 */
export class CachedPrincipals {
  readonly #cache: LRUCache<
    string,
    Principal,
    { readonly query: PrincipalQuery }
  >;

  constructor(directory: Directory) {
    this.#cache = new LRUCache({
      max: 10_000,
      ttl: MAX_AGE_MS,
      // Several callers may wait for one search: nobody's leaving ends it.
      fetchMethod: (_key, _stale, { context }) =>
        directory.findPrincipal(context.query, {
          signal: new AbortController().signal,
        }),
    });
  }

  /** As {@link Directory.findPrincipal}; the answer is at most 5 s old. */
  async find(query: PrincipalQuery): Promise<Principal | undefined> {
    const key =
      'principal' in query
        ? `principal:${query.principal}`
        : `username:${query.username.toLowerCase()}`;
    return this.#cache.fetch(key, { context: { query } });
  }
}
