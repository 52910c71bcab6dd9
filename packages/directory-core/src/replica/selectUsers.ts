import {
  MAX_COLLEAGUES,
  type UserSelection,
  type Visibility,
} from '../directory/Directory';
import type { GroupCondition, UserCondition } from '../directory/predicates';
import type { User } from '../directory/records';
import type { UserField } from '../directory/schema';
import {
  fieldIndex,
  type RankIndex,
  ranksByTier,
  ranksWhere,
  testWhere,
} from './evaluate';
import { ReplicaView } from './ReplicaView';
import {
  inAll,
  inAny,
  type Ranks,
  ranksBelow,
  ranksThat,
  sortRanks,
} from './tables/rankSets';

/**
 * Returns a view of some of the entries. It is valid within one turn of the
 * event loop: a write changes ranks.
 */
export function restrictView(
  view: ReplicaView,
  { users, groups }: Visibility,
): ReplicaView {
  return new ReplicaView(view, {
    users: users && ranksWhere(users, userIndex(view)),
    groups: groups && ranksWhere(groups, groupIndex(view)),
  });
}

/**
 * Returns the ranks of the selected users in order; `undefined` when the group
 * does not exist. Valid within one turn of the event loop: a write changes
 * ranks.
 */
export function selectUsers(
  selection: UserSelection,
  view: ReplicaView,
): Ranks | undefined {
  const { where, order } = selection;
  const from = ranksFrom(selection, view);
  if (!from || (!where && !order)) {
    return from;
  }
  const index = userIndex(view);
  const ranks = where ? inAll([from, ranksWhere(where, index)]) : from;
  if (!order) {
    return ranks;
  }
  if (order.kind === 'byTier') {
    return ranksByTier(order.tiers, index, ranks);
  }
  const { valueOf, descending } =
    order.kind === 'byValue'
      ? order
      : {
          valueOf: ({ creation }: User) => creation?.getTime(),
          descending: true,
        };
  const { inOrder } = view.tables.users.served;
  const isOrdered = order.where ? testWhere(order.where, index) : () => true;
  return sortRanks(
    ranks,
    rank => (isOrdered(rank) ? valueOf(inOrder[rank].record) : undefined),
    { descending },
  );
}

function ranksFrom(
  { from, unlockedOnly }: UserSelection,
  view: ReplicaView,
): Uint32Array | undefined {
  const { members } = view;
  if (from.kind === 'all') {
    return unlockedOnly
      ? view.within('users', members.allUnlocked())
      : view.all('users');
  }
  if (from.kind === 'colleaguesOf') {
    return colleaguesOf(view.keyOf(from.dn), view);
  }
  const group = view.group(from.groupname);
  if (!group) {
    return undefined;
  }
  const ranks = () => {
    if (from.kind === 'sponsorsOf') {
      return sponsorsOf(group.key, view);
    }
    return from.membership === 'locked'
      ? members.locked(group.key)
      : members.unlocked(group.key, from.membership);
  };
  return view.within('users', ranks());
}

function sponsorsOf(
  group: string,
  { tables: { users, groups } }: ReplicaView,
): Uint32Array {
  const own = groups.graph.get(group)?.sponsors ?? [];
  const nested = own.flatMap(sponsor => [...groups.graph.membersOf(sponsor)]);
  return users.unlockedAmong(users.served.ranksOf([...own, ...nested]));
}

/** Returns the members of the smallest groups of an entry. */
function colleaguesOf(key: string, view: ReplicaView): Uint32Array {
  const { tables, members } = view;
  const { users, groups } = tables;
  const [own] = users.served.ranksOf([key]);
  const bySize = Array.from(
    view.within('groups', groups.served.ranksOf(groups.graph.groupsOf(key))),
    rank =>
      view.within('users', members.unlocked(groups.served.inOrder[rank].key)),
  )
    // The entry itself is also a member.
    .filter(({ length }) => length <= MAX_COLLEAGUES + 1)
    .sort((a, b) => a.length - b.length);
  let found: Uint32Array = new Uint32Array();
  for (const group of bySize) {
    const others = group.filter(rank => rank !== own);
    const together = inAny([found, others]);
    if (together.length <= MAX_COLLEAGUES) {
      found = together;
    }
  }
  return found;
}

/** Finds users by conditions. Groups outside the view have no members. */
function userIndex(view: ReplicaView): RankIndex<UserCondition> {
  const { tables, members } = view;
  const { served } = tables.users;
  const fields = fieldIndex(served);
  const flags = new Map<UserField, Uint8Array>();
  return {
    size: served.size,
    find(condition) {
      switch (condition.kind) {
        case 'memberOfAny':
          return { ranks: memberOfAny(view) };
        case 'memberOf': {
          const group = view.group(condition.groupname);
          return { ranks: group ? members.all(group.key) : new Uint32Array() };
        }
        case 'before': {
          const end = condition.time.getTime();
          return {
            ranks: served.find('times', condition.field, times =>
              ranksThat(ranksBelow(times.length), index => times[index] < end),
            ),
          };
        }
        case 'isTrue': {
          const { field } = condition;
          const isTrue = flags.get(field) ?? served.flags(field);
          flags.set(field, isTrue);
          return { test: rank => isTrue[rank] === 1 };
        }
        case 'isUser': {
          const { username } = condition;
          const row = view.user({ username });
          // The name must have the spelling of the directory.
          const [own] = row?.name === username ? served.ranksOf([row.key]) : [];
          return { test: rank => rank === own };
        }
        default:
          return fields.find(condition);
      }
    },
  };
}

/** Returns the users in any group of the view. */
function memberOfAny(view: ReplicaView): Uint32Array {
  const { users, groups } = view.tables;
  if (view.hasAllGroups) {
    return view.members.ofAnyGroup();
  }
  const keys = Array.from(
    view.all('groups'),
    rank => groups.served.inOrder[rank].key,
  );
  return users.served.ranksOf(groups.graph.membersWithin(keys));
}

/** Finds groups by conditions. */
export function groupIndex(view: ReplicaView): RankIndex<GroupCondition> {
  const { graph, served } = view.tables.groups;
  const fields = fieldIndex(served);
  return {
    size: served.size,
    find(condition) {
      if (condition.kind !== 'hasMember' && condition.kind !== 'hasSponsor') {
        return fields.find(condition);
      }
      const user = view.user(condition);
      if (!user) {
        return { ranks: new Uint32Array() };
      }
      const groups = graph.groupsOf(user.key);
      return {
        ranks: served.ranksOf(
          condition.kind === 'hasMember'
            ? groups
            : graph.sponsoredBy([user.key, ...groups]),
        ),
      };
    },
  };
}
