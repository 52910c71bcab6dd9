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
  UserSelection,
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
import { inAll, ranksBelow, sortRanks } from './tables/rankSets';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';

/** Number of users that a stream reads at a time. */
const USERS_PER_BATCH = 500;

/** The rows of a list. */
interface Rows<T> {
  readonly total: number;
  slice(start: number, end: number): readonly ServedRecord<T>[];
}

/** Groups of a list. */
interface FoundGroups {
  /** Default: all groups. */
  readonly keys?: Iterable<string>;
  /** Returns the fields of an item in addition to the group. */
  readonly describe?: (key: string) => Omit<ListedGroup, 'group'>;
}

/** Serves queries from the replica while it may be read. */
export class ReplicaDirectory implements Directory, VisibilityTests {
  readonly #gate: ReplicaGate;
  readonly #tables: ReplicaTables;
  readonly #view: ReplicaView;

  constructor(options: {
    readonly gate: ReplicaGate;
    readonly tables: ReplicaTables;
    readonly keyOf: ReplicaViewOptions['keyOf'];
  }) {
    const { gate, tables, keyOf } = options;
    this.#gate = gate;
    this.#tables = tables;
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
      const rows = this.#selectUsers(selection, view);
      return rows && pageOf(rows, selection, userWith(selection.fields));
    });

  streamUsers: Directory['streamUsers'] = (selection, context) =>
    this.#read(context, view => {
      const rows = this.#selectUsers(selection, view);
      // A copy: a row that changes is replaced in its list.
      const all = rows?.slice(0, rows.total);
      const present = userWith(selection.fields);
      return (
        all && {
          total: all.length,
          batches: this.#batchesOf(all, present, context),
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
      const { served } = this.#tables.groups;
      const index = groupIndex(view);
      const shown = view.all('groups');
      const lists = [
        ...(found.keys ? [served.ranksOf(found.keys)] : []),
        ...(where ? [ranksWhere(where, index)] : []),
        ...(shown === 'all' ? [] : [shown]),
      ];
      const among = lists.length > 0 ? inAll(lists) : undefined;
      const ranks =
        order?.kind === 'byTier'
          ? ranksByTier(order.tiers, index, among)
          : sortGroups(among, order, view);
      const present = groupWith(fields);
      return pageOf(rowsOf(ranks, served.inOrder), selection, row => ({
        group: present(row),
        ...found.describe?.(row.key),
      }));
    });

  isMember: Directory['isMember'] = ({ username, groupname }, context) =>
    this.#read(context, view => {
      const group = view.group(groupname);
      const user = view.user({ username, unlockedOnly: true });
      return (
        group &&
        user !== undefined &&
        this.#tables.groups.graph.groupsOf(user.key).has(group.key)
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
      const names = [...this.#tables.agreements.values()]
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

  #selectUsers(
    selection: UserSelection,
    view: ReplicaView,
  ): Rows<User> | undefined {
    const ranks = selectUsers(selection, view);
    return ranks && rowsOf(ranks, this.#tables.users.served.inOrder);
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
  const { graph } = view.tables.groups;
  if (from.kind === 'all') {
    return {};
  }
  if (from.kind === 'nestedIn') {
    const group = view.group(from.groupname);
    const nestedIn = (key: string) =>
      graph.groupsIn(key, other => view.groupOf(other) !== undefined);
    return (
      group && {
        keys: nestedIn(group.key),
        describe: key => ({ hasMemberGroups: nestedIn(key).size > 0 }),
      }
    );
  }
  const user = view.user(from);
  if (!user) {
    return undefined;
  }
  if (from.kind === 'sponsoredBy') {
    return {
      keys: graph.sponsoredBy([user.key, ...graph.groupsOf(user.key)]),
    };
  }
  if (!from.reasons) {
    return { keys: graph.groupsOf(user.key) };
  }
  const { keys, reasonOf } = membershipsOf(user.key, view);
  return { keys, describe: key => ({ reason: reasonOf(key) }) };
}

/** Returns the ranks in order; `'all'` for all groups by name. */
function sortGroups(
  among: Uint32Array | undefined,
  order: Exclude<GroupSelection['order'], ByTier<GroupPredicate>>,
  view: ReplicaView,
): Uint32Array | readonly number[] | 'all' {
  if (!order) {
    return among ?? 'all';
  }
  const { served } = view.tables.groups;
  const sizeOf = (rank: number) =>
    view.within('users', view.members.unlocked(served.inOrder[rank].key))
      .length;
  return sortRanks(
    among ?? ranksBelow(served.size),
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

function rowsOf<T>(
  ranks: Uint32Array | readonly number[] | 'all',
  inOrder: readonly ServedRecord<T>[],
): Rows<T> {
  return {
    total: ranks === 'all' ? inOrder.length : ranks.length,
    slice: (start, end) =>
      ranks === 'all'
        ? inOrder.slice(start, end)
        : Array.from(ranks.slice(start, end), rank => inOrder[rank]),
  };
}

function pageOf<T, R>(
  rows: Rows<T>,
  { page }: Paged,
  present: (row: ServedRecord<T>) => R,
): Page<R> {
  return { items: slicePage(rows, page).map(present), total: rows.total };
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
