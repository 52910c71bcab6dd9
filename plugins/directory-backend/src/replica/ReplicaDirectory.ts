import type {
  Directory,
  GroupQuery,
  GroupSelection,
  GroupSource,
  ListedGroup,
  Paged,
  RequestContext,
  UserQuery,
  UserSelection,
  UserStream,
} from '../directory/Directory';
import { compareNames } from '../directory/names';
import { type Page, slicePage } from '../directory/Page';
import {
  emptyGroup,
  emptyUser,
  type Group,
  type User,
} from '../directory/records';
import { userFieldNames } from '../directory/schema';
import { type EntryKeys, EntryLookup } from './EntryLookup';
import { fieldIndex, ranksWhere } from './evaluate';
import { selectUsers } from './selectUsers';
import type { ReplicaGate } from './sync/ReplicaState';
import { MemberRanks } from './tables/MemberRanks';
import { inAll } from './tables/rankSets';
import type { ReplicaTables } from './tables/ReplicaTables';
import type { ServedRecord } from './tables/RowBlock';

/** Users of a stream that are read at once. */
const USERS_PER_BATCH = 500;

/** The rows of a list. */
interface Rows<T> {
  readonly total: number;
  slice(start: number, end: number): readonly ServedRecord<T>[];
}

/** Groups that a list consists of. */
interface FoundGroups {
  /** Default: all groups. */
  readonly keys?: Iterable<string>;
  /** Returns what an item has in addition to the group. */
  readonly describe?: (key: string) => Omit<ListedGroup, 'group'>;
}

interface ReplicaDirectoryOptions {
  readonly gate: ReplicaGate;
  readonly tables: ReplicaTables;
  readonly keys: EntryKeys;
}

/** Answers queries from the replica, while it may be read. */
export class ReplicaDirectory implements Directory {
  readonly #gate: ReplicaGate;
  readonly #tables: ReplicaTables;
  readonly #keys: EntryKeys;
  readonly #members: MemberRanks;
  readonly #lookup: EntryLookup;

  constructor({ gate, tables, keys }: ReplicaDirectoryOptions) {
    this.#gate = gate;
    this.#tables = tables;
    this.#keys = keys;
    this.#members = new MemberRanks(tables);
    this.#lookup = new EntryLookup(tables, keys);
  }

  getUser(
    query: UserQuery,
    context: RequestContext,
  ): Promise<User | undefined> {
    return this.#read(context, () => {
      const row = this.#lookup.user(query);
      return row && userWith(query.fields)(row);
    });
  }

  getGroup(
    { groupname, fields }: GroupQuery,
    context: RequestContext,
  ): Promise<Group | undefined> {
    return this.#read(context, () => {
      const row = this.#lookup.group(groupname);
      return row && groupWith(fields)(row);
    });
  }

  listUsers(
    selection: UserSelection & Paged,
    context: RequestContext,
  ): Promise<Page<User> | undefined> {
    return this.#read(context, () => {
      const rows = this.#selectUsers(selection);
      return rows && pageOf(rows, selection, userWith(selection.fields));
    });
  }

  streamUsers(
    selection: UserSelection,
    context: RequestContext,
  ): Promise<UserStream | undefined> {
    return this.#read(context, () => {
      const rows = this.#selectUsers(selection);
      return (
        rows && {
          total: rows.total,
          batches: this.#batchesOf(
            // A copy: a row that changes is replaced in its list.
            rows.slice(0, rows.total),
            userWith(selection.fields),
            context,
          ),
        }
      );
    });
  }

  listGroups(
    selection: GroupSelection & Paged,
    context: RequestContext,
  ): Promise<Page<ListedGroup> | undefined> {
    return this.#read(context, () => {
      const { from, where, fields } = selection;
      const found = this.#groupsFrom(from);
      if (!found) {
        return undefined;
      }
      const { served } = this.#tables.groups;
      const lists = [
        ...(found.keys ? [served.ranksOf(found.keys)] : []),
        ...(where ? [ranksWhere(where, fieldIndex(served))] : []),
      ];
      const rows = rowsOf(
        lists.length > 0 ? inAll(lists) : 'all',
        served.inOrder,
      );
      const present = groupWith(fields);
      return pageOf(rows, selection, row => ({
        group: present(row),
        ...found.describe?.(row.key),
      }));
    });
  }

  isMember(
    query: { readonly username: string; readonly groupname: string },
    context: RequestContext,
  ): Promise<boolean | undefined> {
    return this.#read(context, () => {
      const { username, groupname } = query;
      const group = this.#lookup.group(groupname);
      const user = this.#lookup.user({ username, unlockedOnly: true });
      return (
        group &&
        user !== undefined &&
        this.#tables.groups.graph.groupsOf(user.key).has(group.key)
      );
    });
  }

  countMembers(
    { groupnames }: { readonly groupnames: readonly string[] },
    context: RequestContext,
  ): Promise<ReadonlyMap<string, number>> {
    return this.#read(
      context,
      () =>
        new Map(
          groupnames.map(groupname => {
            const group = this.#lookup.group(groupname);
            return [
              groupname,
              group ? this.#members.unlocked(group.key).length : 0,
            ];
          }),
        ),
    );
  }

  listAgreements(
    query: Pick<UserQuery, 'username' | 'unlockedOnly'> & Paged,
    context: RequestContext,
  ): Promise<Page<string> | undefined> {
    return this.#read(context, () => {
      const user = this.#lookup.user(query);
      if (!user) {
        return undefined;
      }
      const names = [...this.#tables.agreements.values()]
        .filter(({ enabled, signers }) => enabled && signers.has(user.key))
        .map(({ name }) => name)
        .sort(compareNames);
      return { items: slicePage(names, query.page), total: names.length };
    });
  }

  /** Reads in the turn in which the replica may be read. */
  async #read<R>({ signal }: RequestContext, read: () => R): Promise<R> {
    if (!this.#gate.isServing) {
      await this.#gate.enter(signal);
    }
    return read();
  }

  async *#batchesOf(
    rows: readonly ServedRecord<User>[],
    present: (row: ServedRecord<User>) => User,
    context: RequestContext,
  ): AsyncIterable<readonly User[]> {
    for (let at = 0; at < rows.length; at += USERS_PER_BATCH) {
      context.signal.throwIfAborted();
      yield await this.#read(context, () =>
        rows.slice(at, at + USERS_PER_BATCH).map(present),
      );
    }
  }

  #selectUsers(selection: UserSelection): Rows<User> | undefined {
    const tables = this.#tables;
    const found = selectUsers(selection, {
      tables,
      members: this.#members,
      lookup: this.#lookup,
      keys: this.#keys,
    });
    return found && rowsOf(found, tables.users.served.inOrder);
  }

  /** Returns `undefined` when a named entry does not exist. */
  #groupsFrom(from: GroupSource): FoundGroups | undefined {
    const { graph, served } = this.#tables.groups;
    if (from.kind === 'all') {
      return {};
    }
    if (from.kind === 'nestedIn') {
      const group = this.#lookup.group(from.groupname);
      const nestedIn = (key: string) =>
        graph.groupsIn(key, name => served.get(name) !== undefined);
      return (
        group && {
          keys: nestedIn(group.key),
          describe: key => ({ hasMemberGroups: nestedIn(key).size > 0 }),
        }
      );
    }
    const user = this.#lookup.user(from);
    if (!user) {
      return undefined;
    }
    if (from.kind === 'sponsoredBy') {
      return {
        keys: graph.sponsoredBy([user.key, ...graph.groupsOf(user.key)]),
      };
    }
    return from.reasons
      ? this.#groupsWithReasons(user.key)
      : { keys: graph.groupsOf(user.key) };
  }

  #groupsWithReasons(user: string): FoundGroups {
    const { graph, served } = this.#tables.groups;
    const chains = graph.chainsFrom(user);
    const sponsored = graph.sponsoredBy([user, ...chains.keys()]);
    return {
      keys: chains.keys(),
      describe: key => {
        const chain = chains.get(key)!;
        return {
          reason: {
            direct: chain.length === 1,
            sponsor: sponsored.has(key),
            path: chain.map(step => served.get(step)?.name),
          },
        };
      },
    };
  }
}

function rowsOf<T>(
  ranks: Uint32Array | readonly number[] | 'all',
  inOrder: readonly ServedRecord<T>[],
): Rows<T> {
  return ranks === 'all'
    ? {
        total: inOrder.length,
        slice: (start, end) => inOrder.slice(start, end),
      }
    : {
        total: ranks.length,
        slice: (start, end) =>
          Array.from(ranks.slice(start, end), rank => inOrder[rank]),
      };
}

function pageOf<T, R>(
  rows: Rows<T>,
  { page: { number, size } }: Paged,
  present: (row: ServedRecord<T>) => R,
): Page<R> {
  return {
    items: rows.slice((number - 1) * size, number * size).map(present),
    total: rows.total,
  };
}

/** Returns records with these fields; the row's own record with all of them. */
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
