import { MAX_COLLEAGUES, type UserSelection } from '../directory/Directory';
import type { UserCondition } from '../directory/predicates';
import type { UserField } from '../directory/schema';
import type { EntryKeys, EntryLookup } from './EntryLookup';
import { fieldIndex, type RankIndex, ranksWhere, testWhere } from './evaluate';
import type { MemberRanks } from './tables/MemberRanks';
import { inAll, inAny, ranksBelow } from './tables/rankSets';
import type { ReplicaTables } from './tables/ReplicaTables';

/** Data that users are selected from. */
export interface UserSelectionContext {
  readonly tables: ReplicaTables;
  readonly members: MemberRanks;
  readonly lookup: EntryLookup;
  readonly keys: Pick<EntryKeys, 'entry'>;
}

/**
 * Returns the ranks of a selection's users in its order; `undefined` when its
 * group does not exist, `'all'` for all users by name. Valid within one turn of
 * the event loop: a write changes ranks.
 */
export function selectUsers(
  selection: UserSelection,
  context: UserSelectionContext,
): Uint32Array | readonly number[] | 'all' | undefined {
  const { where, order } = selection;
  const source = ranksFrom(selection, context);
  if (source === undefined || (source === 'all' && !where && !order)) {
    return source;
  }
  const index = userIndex(context);
  const lists = [
    ...(source === 'all' ? [] : [source]),
    ...(where ? [ranksWhere(where, index)] : []),
  ];
  const ranks = lists.length > 0 ? inAll(lists) : ranksBelow(index.size);
  return order ? newestFirst(ranks, order, index, context) : ranks;
}

function ranksFrom(
  { from, unlockedOnly }: UserSelection,
  context: UserSelectionContext,
): Uint32Array | 'all' | undefined {
  const { members, lookup, keys } = context;
  if (from.kind === 'all') {
    return unlockedOnly ? members.allUnlocked() : 'all';
  }
  if (from.kind === 'colleaguesOf') {
    return colleaguesOf(keys.entry(from.dn), context);
  }
  const group = lookup.group(from.groupname);
  if (!group) {
    return undefined;
  }
  return from.kind === 'membersOf'
    ? members.unlocked(group.key, from.membership)
    : sponsorsOf(group.key, context);
}

function sponsorsOf(
  group: string,
  { tables: { users, groups } }: UserSelectionContext,
): Uint32Array {
  const own = groups.graph.get(group)?.sponsors ?? [];
  const nested = own.flatMap(sponsor => [...groups.graph.membersOf(sponsor)]);
  return users.unlockedAmong(users.served.ranksOf([...own, ...nested]));
}

/** Members of the smallest groups of an entry. */
function colleaguesOf(
  key: string,
  { tables: { users, groups }, members }: UserSelectionContext,
): Uint32Array {
  const [own] = users.served.ranksOf([key]);
  const bySize = Array.from(
    groups.served.ranksOf(groups.graph.groupsOf(key)),
    rank => members.unlocked(groups.served.inOrder[rank].key),
  )
    // One more: the entry itself is a member, too.
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

function newestFirst(
  ranks: Uint32Array,
  { where }: NonNullable<UserSelection['order']>,
  index: RankIndex<UserCondition>,
  { tables }: UserSelectionContext,
): readonly number[] {
  const { inOrder } = tables.users.served;
  const isOrdered = where ? testWhere(where, index) : () => true;
  return Array.from(ranks, rank => ({
    rank,
    time: isOrdered(rank)
      ? inOrder[rank].record.creation?.getTime() ?? -Infinity
      : -Infinity,
  }))
    .sort((a, b) => (a.time === b.time ? a.rank - b.rank : b.time - a.time))
    .map(({ rank }) => rank);
}

function userIndex({
  tables,
  members,
  lookup,
}: UserSelectionContext): RankIndex<UserCondition> {
  const { served } = tables.users;
  const fields = fieldIndex(served);
  const flags = new Map<UserField, Uint8Array>();
  return {
    size: served.size,
    find(condition) {
      switch (condition.kind) {
        case 'memberOfAny':
          return { ranks: members.ofAnyGroup() };
        case 'memberOf': {
          const group = lookup.group(condition.groupname);
          return { ranks: group ? members.all(group.key) : new Uint32Array() };
        }
        case 'before':
          return { ranks: served.ranksBefore(condition.field, condition.time) };
        case 'isTrue': {
          const { field } = condition;
          const isTrue = flags.get(field) ?? served.flags(field);
          flags.set(field, isTrue);
          return { test: rank => isTrue[rank] === 1 };
        }
        case 'isUser': {
          const { username } = condition;
          const row = lookup.user({ username });
          // In the directory's spelling.
          const [own] = row?.name === username ? served.ranksOf([row.key]) : [];
          return { test: rank => rank === own };
        }
        default:
          return fields.find(condition);
      }
    },
  };
}
