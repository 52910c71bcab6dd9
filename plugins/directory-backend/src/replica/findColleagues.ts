import { MAX_COLLEAGUES, type UsersQuery } from '../directory/Directory';
import { orderColleagues } from '../directory/orderColleagues';
import type { Members } from './Members';
import { inAny } from './rankSets';
import type { ReplicaTables } from './ReplicaTables';

/** The ranks of somebody's colleagues, as `Directory.listColleagues` orders. */
export function findColleagues(
  query: Pick<UsersQuery, 'visibleTo'> & {
    /** Of the one whose colleagues they are. */
    readonly key: string;
  },
  copy: ReplicaTables & { readonly members: Members },
): readonly number[] {
  const { served } = copy.users;
  const ranks = Array.from(candidates(query.key, copy));
  const byName = new Map(
    ranks.map(rank => [served.inOrder[rank].name, rank] as const),
  );
  const users = ranks.map(rank => served.inOrder[rank].record);
  return orderColleagues(users, query.visibleTo).map(
    ({ username }) => byName.get(username)!,
  );
}

/** Those in the smallest groups. */
function candidates(
  key: string,
  { users, groups, members }: ReplicaTables & { readonly members: Members },
): Uint32Array {
  const [own] = users.served.ranksOf([key]);
  const bySize = Array.from(
    groups.served.ranksOf(groups.graph.groupsOf(key)),
    rank => members.unlocked(groups.served.inOrder[rank].key),
  )
    // One more: the caller is a member, too.
    .filter(({ length }) => length <= MAX_COLLEAGUES + 1)
    .sort((a, b) => a.length - b.length);
  let found = new Uint32Array();
  for (const group of bySize) {
    const others = group.filter(rank => rank !== own);
    const together = inAny([found, others]);
    if (together.length <= MAX_COLLEAGUES) {
      found = together;
    }
  }
  return found;
}
