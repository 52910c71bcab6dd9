import fc from 'fast-check';
import type { RequestContext } from '../../directory/Directory';
import {
  userFieldNames,
  userFields,
  type FieldDefinition,
  type UserField,
} from '../../directory/schema';
import type { Viewer } from '../naive/naiveSearch';

/** So many queries are under way at once. */
export const CONCURRENCY = 8;

/** Context of a request that nobody aborts. */
export const context: RequestContext = {
  signal: new AbortController().signal,
};

const definitions: Readonly<Record<UserField, FieldDefinition>> = userFields;
const hidden = new Set(userFieldNames.filter(name => definitions[name].hidden));
/** Names that are nobody's, or that no adapter may take to its directory. */
const NO_NAMES = [
  ...['nobody', '-dash', 'plus+user', '', '*', 'a)(uid=*'],
  ...['alice,cn=x', 'alice\0', 'al\\69ce', 'äbc', 'alice '],
  ...[' design team', 'design team ', 'design  team', 'double space'],
  'double  space',
];

/** What was asked, with what was answered. */
export type QueryResults<Q, A> = readonly {
  readonly query: Q;
  readonly result: A;
}[];

/** The results beside their queries, so that a difference tells its own. */
export async function resultsOf<Q, A>(
  queries: readonly Q[],
  run: (query: Q) => Promise<A>,
): Promise<QueryResults<Q, A>> {
  const results: { query: Q; result: A }[] = [];
  for (let at = 0; at < queries.length; at += CONCURRENCY) {
    const some = queries.slice(at, at + CONCURRENCY);
    const found = await Promise.all(some.map(run));
    results.push(
      ...found.map((result, index) => ({ query: some[index], result })),
    );
  }
  return results;
}

/** Names that there are, in two spellings, and some that are nobody's. */
export function spelled(names: readonly string[]): readonly string[] {
  const others = names.map(name =>
    name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase(),
  );
  return [...names, ...others, ...NO_NAMES];
}

/** Who asks: mostly those who may see no private profile but their own. */
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
        hidden: new Set([...hidden, ...alsoHidden]),
        owner: name,
      })),
    },
  );
}
