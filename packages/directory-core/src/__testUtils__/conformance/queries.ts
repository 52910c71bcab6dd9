import fc from 'fast-check';
import type { RequestContext } from '../../directory/Directory';
import { hiddenFieldNames, type UserField } from '../../directory/schema';
import type { Viewer } from '../naive/naiveSearch';

/** Maximum number of concurrent queries. */
export const CONCURRENCY = 8;

/** Context of a request that is not aborted. */
export const context: RequestContext = {
  signal: new AbortController().signal,
};

/** Unknown names and names that are unsafe in a query. */
const UNKNOWN_NAMES = [
  ...['nobody', '-dash', 'plus+user', '', '*', 'a)(uid=*'],
  ...['alice,cn=x', 'alice\0', 'al\\69ce', 'äbc', 'alice '],
  ...[' design team', 'design team ', 'design  team', 'double space'],
  'double  space',
];

/** Queries with their results. */
export type QueryResults<Q, A> = readonly {
  readonly query: Q;
  readonly result: A;
}[];

/** Runs queries and returns their results. */
export async function resultsOf<Q, A>(
  queries: readonly Q[],
  run: (query: Q) => Promise<A>,
): Promise<QueryResults<Q, A>> {
  const results: { query: Q; result: A }[] = [];
  for (let at = 0; at < queries.length; at += CONCURRENCY) {
    const batch = queries.slice(at, at + CONCURRENCY);
    const found = await Promise.all(batch.map(run));
    results.push(
      ...found.map((result, index) => ({ query: batch[index], result })),
    );
  }
  return results;
}

/** Returns existing names in two spellings, and unknown names. */
export function spelled(names: readonly string[]): readonly string[] {
  const others = names.map(name =>
    name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase(),
  );
  return [...names, ...others, ...UNKNOWN_NAMES];
}

/** Generates viewers, most of whom see only their own private profile. */
export function viewer(
  usernames: readonly string[],
  alsoHidden: readonly UserField[] = [],
): fc.Arbitrary<Viewer> {
  const owner = fc.constantFrom(...['veiled', 'bob', undefined], ...usernames);
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant({ kind: 'everything' as const }) },
    {
      weight: 3,
      arbitrary: owner.map(name => ({
        kind: 'public' as const,
        hidden: new Set([...hiddenFieldNames, ...alsoHidden]),
        owner: name,
      })),
    },
  );
}
