import type {
  ByTier,
  Directory,
  GroupQuery,
  GroupSelection,
  GroupSource,
  ListedGroup,
  MembershipReason,
  Paged,
  RequestContext,
  UserQuery,
  VisibilityTests,
} from '../directory/Directory';
import { compareNames } from '../directory/names';
import { type Page, slicePage } from '../directory/Page';
import type { GroupPredicate } from '../directory/predicates';
import {
  emptyGroup,
  emptyUser,
  type Group,
  type User,
} from '../directory/records';
import { userFieldNames } from '../directory/schema';
import { ranksByTier, ranksWhere } from './evaluate';
import { ReplicaView, type ReplicaViewOptions } from './ReplicaView';
import { groupIndex, restrictView, selectUsers } from './selectUsers';
import type { ReplicaGate } from './sync/ReplicaState';
import { MemberRanks } from './tables/MemberRanks';
import { inAll, type Ranks, sortRanks } from './tables/rankSets';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';

/** Number of users that a stream reads at a time. */
const USERS_PER_BATCH = 500;

/** Groups of a list. */
interface FoundGroups {
  readonly ranks: Uint32Array;
  /** Returns the fields of an item in addition to the group. */
  readonly describe?: (key: string) => Omit<ListedGroup, 'group'>;
}

/** Serves queries from the replica while it may be read. */
export class ReplicaDirectory implements Directory, VisibilityTests {
  readonly #gate: ReplicaGate;
  readonly #view: ReplicaView;

  constructor(options: {
    readonly gate: ReplicaGate;
    readonly tables: ReplicaTables;
    readonly keyOf: ReplicaViewOptions['keyOf'];
  }) {
    const { gate, tables, keyOf } = options;
    this.#gate = gate;
    this.#view = new ReplicaView({
      tables,
      keyOf,
      members: new MemberRanks(tables),
    });
  }

  getUser: Directory['getUser'] = (query, context) =>
    this.#read(context, view => {
      const row = view.user(query);
      return row && userWith(query.fields)(row);
    });

  getGroup: Directory['getGroup'] = ({ groupname, fields }, context) =>
    this.#read(context, view => {
      const row = view.group(groupname);
      return row && groupWith(fields)(row);
    });

  listUsers: Directory['listUsers'] = (selection, context) =>
    this.#read(context, view => {
      const ranks = selectUsers(selection, view);
      const { inOrder } = view.tables.users.served;
      const present = userWith(selection.fields);
      return ranks && pageOf(ranks, selection, rank => present(inOrder[rank]));
    });

  streamUsers: Directory['streamUsers'] = (selection, context) =>
    this.#read(context, view => {
      const ranks = selectUsers(selection, view);
      const { inOrder } = view.tables.users.served;
      // A copy: a row that changes is replaced in its list.
      const rows = ranks && Array.from(ranks, rank => inOrder[rank]);
      const present = userWith(selection.fields);
      return (
        rows && {
          total: rows.length,
          batches: this.#batchesOf(rows, present, context),
        }
      );
    });

  listGroups: Directory['listGroups'] = (selection, context) =>
    this.#read(context, view => {
      const { from, where, order, fields } = selection;
      const found = groupsFrom(from, view);
      if (!found) {
        return undefined;
      }
      const { inOrder } = view.tables.groups.served;
      const index = groupIndex(view);
      const visible = view.within('groups', found.ranks);
      const among = where
        ? inAll([visible, ranksWhere(where, index)])
        : visible;
      const ranks =
        order?.kind === 'byTier'
          ? ranksByTier(order.tiers, index, among)
          : sortGroups(among, order, view);
      const present = groupWith(fields);
      return pageOf(ranks, selection, rank => ({
        group: present(inOrder[rank]),
        ...found.describe?.(inOrder[rank].key),
      }));
    });

  isMember: Directory['isMember'] = ({ username, groupname }, context) =>
    this.#read(context, view => {
      const group = view.group(groupname);
      const user = view.user({ username, unlockedOnly: true });
      return (
        group &&
        user !== undefined &&
        view.tables.groups.graph.groupsOf(user.key).has(group.key)
      );
    });

  countMembers: Directory['countMembers'] = ({ groupnames }, context) =>
    this.#read(context, view => {
      const counts = new Map<string, number>();
      for (const groupname of groupnames) {
        const group = view.group(groupname);
        const members = group && view.members.unlocked(group.key);
        counts.set(
          groupname,
          members ? view.within('users', members).length : 0,
        );
      }
      return counts;
    });

  membershipReasons: Directory['membershipReasons'] = (
    { groupname, usernames },
    context,
  ) =>
    this.#read(context, view => {
      const reasons = new Map<string, MembershipReason>();
      const group = view.group(groupname);
      for (const username of group ? usernames : []) {
        const user = view.user({ username });
        const memberships = user && membershipsOf(user.key, view);
        if (memberships?.keys.has(group!.key)) {
          reasons.set(username, memberships.reasonOf(group!.key));
        }
      }
      return reasons;
    });

  listAgreements: Directory['listAgreements'] = (query, context) =>
    this.#read(context, view => {
      const user = view.user(query);
      if (!user) {
        return undefined;
      }
      const names = [...view.tables.agreements.values()]
        .filter(({ enabled, signers }) => enabled && signers.has(user.key))
        .map(({ name }) => name)
        .sort(compareNames);
      return { items: slicePage(names, query.page), total: names.length };
    });

  testsOf(
    kind: 'users' | 'groups',
    names: readonly string[],
  ): ReturnType<VisibilityTests['testsOf']> {
    const context = { signal: new AbortController().signal };
    return this.#read(context, () =>
      names.map(name => {
        const isIn = (view: ReplicaView) =>
          (kind === 'users'
            ? view.user({ username: name })
            : view.group(name)) !== undefined;
        return isIn(this.#view)
          ? visible => isIn(restrictView(this.#view, visible))
          : undefined;
      }),
    );
  }

  /** Reads in the same turn in which the replica may be read. */
  async #read<R>(
    { signal, visible }: RequestContext,
    read: (view: ReplicaView) => R,
  ): Promise<R> {
    if (!this.#gate.isServing) {
      await this.#gate.enter(signal);
    }
    return read(visible ? restrictView(this.#view, visible) : this.#view);
  }

  async *#batchesOf(
    rows: readonly ServedRecord<User>[],
    present: (row: ServedRecord<User>) => User,
    context: RequestContext,
  ): AsyncIterable<readonly User[]> {
    for (let at = 0; at < rows.length; at += USERS_PER_BATCH) {
      context.signal.throwIfAborted();
      yield await this.#read({ signal: context.signal }, () =>
        rows.slice(at, at + USERS_PER_BATCH).map(present),
      );
    }
  }
}

/**
 * Returns the groups of a source; `undefined` when a named entry does not
 * exist.
 */
function groupsFrom(
  from: GroupSource,
  view: ReplicaView,
): FoundGroups | undefined {
  const { graph, served } = view.tables.groups;
  if (from.kind === 'all') {
    return { ranks: served.allRanks };
  }
  if (from.kind === 'nestedIn') {
    const group = view.group(from.groupname);
    const nestedIn = (key: string) =>
      graph.groupsIn(key, other => view.groupOf(other) !== undefined);
    return (
      group && {
        ranks: served.ranksOf(nestedIn(group.key)),
        describe: key => ({ hasMemberGroups: nestedIn(key).size > 0 }),
      }
    );
  }
  const user = view.user(from);
  if (!user) {
    return undefined;
  }
  if (from.kind === 'sponsoredBy') {
    const entries = [user.key, ...graph.groupsOf(user.key)];
    return { ranks: served.ranksOf(graph.sponsoredBy(entries)) };
  }
  if (!from.reasons) {
    return { ranks: served.ranksOf(graph.groupsOf(user.key)) };
  }
  const { keys, reasonOf } = membershipsOf(user.key, view);
  return {
    ranks: served.ranksOf(keys),
    describe: key => ({ reason: reasonOf(key) }),
  };
}

/** Returns the ranks of groups in order. */
function sortGroups(
  ranks: Uint32Array,
  order: Exclude<GroupSelection['order'], ByTier<GroupPredicate>>,
  view: ReplicaView,
): Ranks {
  if (!order) {
    return ranks;
  }
  const { inOrder } = view.tables.groups.served;
  const sizeOf = (rank: number) =>
    view.within('users', view.members.unlocked(inOrder[rank].key)).length;
  return sortRanks(
    ranks,
    order.kind === 'bySize' ? sizeOf : rank => rank,
    order,
  );
}

/** Returns the groups of a user and the reason for each membership. */
function membershipsOf(
  user: string,
  view: ReplicaView,
): {
  readonly keys: ReadonlySet<string>;
  readonly reasonOf: (key: string) => MembershipReason;
} {
  const { graph } = view.tables.groups;
  const chains = graph.chainsFrom(user);
  const keys = new Set(chains.keys());
  const sponsored = graph.sponsoredBy([user, ...keys]);
  return {
    keys,
    reasonOf: key => {
      const chain = chains.get(key)!;
      return {
        direct: chain.length === 1,
        sponsor: sponsored.has(key),
        path: chain.map(step => view.groupOf(step)?.name),
      };
    },
  };
}

function pageOf<R>(
  ranks: Ranks,
  { page }: Paged,
  present: (rank: number) => R,
): Page<R> {
  const onPage: readonly number[] = [...slicePage<Ranks>(ranks, page)];
  return { items: onPage.map(present), total: ranks.length };
}

/**
 * Returns a function that reduces records to these fields. A record with all
 * fields is returned as it is.
 */
function userWith(
  fields: UserQuery['fields'],
): (row: ServedRecord<User>) => User {
  return userFieldNames.every(field => fields.has(field))
    ? ({ record }) => record
    : ({ record }) => fill(emptyUser(), record, ['username', ...fields]);
}

function groupWith(
  fields: GroupQuery['fields'],
): (row: ServedRecord<Group>) => Group {
  return ({ record }) => fill(emptyGroup(), record, ['groupname', ...fields]);
}

function fill<T extends object>(
  empty: Record<keyof T, undefined>,
  record: T,
  fields: readonly (keyof T)[],
): T {
  const filled: Record<keyof T, unknown> = empty;
  for (const field of fields) {
    filled[field] = record[field];
  }
  return filled as T;
}
