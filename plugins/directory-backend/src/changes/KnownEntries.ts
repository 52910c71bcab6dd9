import { createHash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Group, User } from '../directory/records';
import type { ReplicaTables } from '../replica/tables/ReplicaTables';
import type { ServedRecord } from '../replica/tables/RowBlock';
import type { Edge, NewEvent, StoredEntry } from './ChangeStore';
import { compareMemberships } from './compareMemberships';
import { WorkSlices } from './WorkSlices';

const SALT_BYTES = 16;

/** A record of the replica. */
type Served = ServedRecord<User> | ServedRecord<Group>;

/** A user or group as the change log knows it. */
export interface KnownEntry {
  /** Stable ID. */
  readonly id: string;
  readonly kind: 'user' | 'group';
  /** Key in the tables. */
  key: string;
  /** `undefined` for a group that is not served. */
  name: string | undefined;
  locked: boolean;
  /** Record at the last comparison; `undefined` when it differed. */
  served: Served | undefined;
  /** Groups of which the entry is recorded as a direct member. */
  groups: readonly KnownEntry[];
  /** Keys that include those of the recorded direct members of a group. */
  members: readonly string[];
}

/** State of an entry before a comparison. */
export type StateBefore = Pick<KnownEntry, 'name' | 'groups'>;

/** Result of a comparison, to append in one transaction. */
export interface ChangeBatch {
  /** In an order in which they can be applied one after the other. */
  readonly events: readonly NewEvent[];
  readonly entries: readonly StoredEntry[];
  /** IDs of deleted entries. */
  readonly deleted: readonly string[];
  readonly added: readonly Edge[];
  readonly removed: readonly Edge[];
  /** Keys of entries with differences that were not recorded. */
  readonly postponed: ReadonlySet<string>;
}

/** Options of {@link KnownEntries}. */
export interface KnownEntriesOptions {
  readonly tables: ReplicaTables;
  /** Names of the fields that the directory provides. */
  readonly fields: Readonly<Record<'user' | 'group', readonly string[]>>;
  /** Whether every caller may read a field of an entry. */
  readonly isVisible: (
    field: string,
    record: User | Group,
    kind: 'user' | 'group',
  ) => boolean;
}

/** Fields whose changes have a kind other than `*_changed`. */
const OTHER_CHANGES: ReadonlySet<string> = new Set([
  'username',
  'groupname',
  'locked',
]);

/** A comparison in progress. */
class Comparison {
  readonly slices = new WorkSlices();
  readonly deletions: NewEvent[] = [];
  readonly changes: NewEvent[] = [];
  readonly changed = new Set<KnownEntry>();
  readonly deleted: string[] = [];
  readonly added: Edge[] = [];
  readonly removed: Edge[] = [];
  readonly postponed = new Set<string>();
  /** Keys of entries whose groups are to be compared. */
  readonly linked = new Set<string>();
  /** Keys of members that groups may have lost or got. */
  readonly members: Iterable<string>[] = [];
  /** Entries with a new key, which their groups may not contain yet. */
  readonly moved = new Set<KnownEntry>();
  /** Entries whose memberships, or those of their members, may differ. */
  readonly affected = new Set<KnownEntry>();
  readonly before = new Map<KnownEntry, StateBefore>();

  /** @param isStrict - whether to postpone differences that add or allow */
  constructor(readonly isStrict: boolean) {}

  /** Keeps the state of an entry before its first change. */
  touch(entry: KnownEntry): void {
    if (!this.before.has(entry)) {
      this.before.set(entry, { name: entry.name, groups: entry.groups });
    }
  }
}

/**
 * The users and groups as the change log has recorded them, with the direct
 * members of all groups. Compared with the tables of the replica, they yield
 * the events to append.
 */
export class KnownEntries {
  readonly #options: KnownEntriesOptions;
  readonly #byId = new Map<string, KnownEntry>();
  /** Entries whose key is not their ID. */
  readonly #byKey = new Map<string, KnownEntry>();

  private constructor(options: KnownEntriesOptions) {
    this.#options = options;
  }

  /** Reads the recorded entries from the database. */
  static async load(
    store: {
      entries(): AsyncIterable<readonly StoredEntry[]>;
      edges(): AsyncIterable<readonly Edge[]>;
    },
    options: KnownEntriesOptions,
  ): Promise<KnownEntries> {
    const known = new KnownEntries(options);
    const keys = known.#keysById();
    const slices = new WorkSlices();
    for await (const page of store.entries()) {
      for (const entry of page) {
        await slices.next();
        known.#load(entry, keys.get(entry.id) ?? entry.id);
      }
    }
    for await (const page of store.edges()) {
      for (const { groupId, memberId } of page) {
        await slices.next();
        const group = known.#byId.get(groupId);
        const member = known.#byId.get(memberId);
        if (group && member) {
          (group.members as string[]).push(member.key);
          member.groups = member.groups.concat(group);
        }
      }
    }
    return known;
  }

  /** The keys of the known entries and of those in the tables. */
  *keys(): Iterable<string> {
    const { users, groups } = this.#options.tables;
    yield* users.served.keys();
    yield* groups.keys();
    for (const { key } of this.#byId.values()) {
      yield key;
    }
  }

  /** Whether the tables contain an entry. */
  isPresent(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /**
   * Compares entries with the tables, and records the state of the tables. If
   * appending the result fails, this object must not be used again. Yields to
   * the event loop in between; writes to the tables in the meantime must be
   * compared again.
   *
   * Entries that are missing from the tables must be compared last, so that a
   * renamed entry is not taken for a deleted one.
   *
   * @param options.isStrict - whether to postpone entries that were created,
   *   renamed or unlocked, and new members
   */
  async compare(
    keys: readonly string[],
    { isStrict }: { readonly isStrict: boolean },
  ): Promise<ChangeBatch> {
    const comparison = new Comparison(isStrict);
    const { slices, linked } = comparison;
    for (const key of keys) {
      await slices.next();
      this.#compareEntry(key, comparison);
    }
    for (const members of comparison.members) {
      for (const key of members) {
        await slices.next();
        linked.add(key);
      }
    }
    for (const key of linked) {
      await slices.next();
      this.#compareGroups(key, comparison);
    }
    const memberships = await compareMemberships({
      affected: comparison.affected,
      before: comparison.before,
      membersOf: group => this.#membersOf(group),
      slices,
    });
    const entries: StoredEntry[] = [];
    for (const entry of comparison.changed) {
      await slices.next();
      entries.push(this.#stored(entry));
    }
    const { deletions, changes } = comparison;
    return {
      events: [...deletions, ...changes, ...memberships],
      entries,
      deleted: comparison.deleted,
      added: comparison.added,
      removed: comparison.removed,
      postponed: comparison.postponed,
    };
  }

  #compareEntry(key: string, comparison: Comparison): void {
    const found = this.#find(key);
    let known = this.#get(key);
    if (known && (known.kind !== found?.kind || known.id !== found.id)) {
      this.#delete(known, comparison);
      known = undefined;
    }
    if (!found) {
      return;
    }
    known ??= this.#byId.get(found.id);
    if (known && known.key !== key) {
      this.#setKey(known, key);
      comparison.moved.add(known);
    }
    comparison.linked.add(key);
    const { kind, served, id } = found;
    if (!known && comparison.isStrict) {
      comparison.postponed.add(key);
      return;
    }
    if (!known) {
      known = newEntry({ id, kind, key });
      this.#add(known);
      comparison.changed.add(known);
    }
    comparison.touch(known);
    if (served) {
      this.#compareServed(known, served, comparison);
    } else if (known.name !== undefined) {
      comparison.deletions.push({ kind: 'group_deleted', entry: named(known) });
      comparison.changed.add(known);
      known.name = undefined;
      known.served = undefined;
    }
    if (kind === 'group') {
      const members = this.#options.tables.groups.graph.directMembersOf(key);
      comparison.members.push(differingItems(known.members, members));
      known.members = members;
    }
  }

  #compareServed(
    known: KnownEntry,
    served: Served,
    comparison: Comparison,
  ): void {
    const { changes, changed, isStrict } = comparison;
    const { kind, name: oldName } = known;
    const eventsBefore = changes.length;
    const isLocked = 'locked' in served.record && served.record.locked === true;
    const isNew = oldName === undefined;
    const isRenamed = !isNew && oldName !== served.name;
    const isUnlocked = known.locked && !isLocked;
    if (isStrict && (isNew || isRenamed || isUnlocked)) {
      comparison.postponed.add(known.key);
    }
    if (isNew) {
      if (isStrict) {
        return;
      }
      known.name = served.name;
      changes.push({ kind: `${kind}_created`, entry: named(known) });
      comparison.affected.add(known);
    }
    if (isRenamed && !isStrict) {
      known.name = served.name;
      changes.push({ kind: `${kind}_renamed`, entry: named(known), oldName });
    }
    if (known.locked !== isLocked && !(isUnlocked && isStrict)) {
      known.locked = isLocked;
      changes.push({
        kind: isLocked ? 'user_locked' : 'user_unlocked',
        entry: named(known),
      });
    }
    const isChanged = !this.#haveSameValues(known, served);
    if (isChanged && !isNew) {
      changes.push({ kind: `${kind}_changed`, entry: named(known) });
    }
    if (isChanged || changes.length > eventsBefore) {
      changed.add(known);
    }
    known.served = served;
  }

  #delete(known: KnownEntry, comparison: Comparison): void {
    comparison.touch(known);
    if (known.name !== undefined) {
      comparison.deletions.push({
        kind: `${known.kind}_deleted`,
        entry: named(known),
      });
    }
    comparison.deleted.push(known.id);
    comparison.changed.delete(known);
    this.#byId.delete(known.id);
    this.#byKey.delete(known.key);
    comparison.members.push(known.members);
    known.name = undefined;
    known.groups = [];
  }

  /** Compares the groups of which an entry is a direct member. */
  #compareGroups(key: string, comparison: Comparison): void {
    const known = this.#get(key);
    if (!known) {
      return;
    }
    const { graph } = this.#options.tables.groups;
    const present = new Set(
      graph.directGroupsOf(key).flatMap(group => this.#get(group) ?? []),
    );
    const recorded = new Set(known.groups);
    const added = [...present].filter(group => !recorded.has(group));
    const kept = comparison.moved.has(known)
      ? known.groups
      : known.groups.filter(group => present.has(group));
    if (added.length > 0 && comparison.isStrict) {
      comparison.postponed.add(key);
      added.length = 0;
    }
    if (added.length === 0 && kept.length === known.groups.length) {
      return;
    }
    comparison.touch(known);
    comparison.affected.add(known);
    const edgeTo = (group: KnownEntry): Edge => ({
      groupId: group.id,
      memberId: known.id,
    });
    comparison.added.push(...added.map(edgeTo));
    const remaining = new Set(kept);
    comparison.removed.push(
      ...known.groups.filter(group => !remaining.has(group)).map(edgeTo),
    );
    // Without the spare capacity of a spread.
    known.groups = kept.concat(added);
  }

  /** Yields the recorded direct members of a group. */
  *#membersOf(group: KnownEntry): Iterable<KnownEntry | undefined> {
    for (const key of group.members) {
      const member = this.#get(key);
      yield member?.groups.includes(group) ? member : undefined;
    }
  }

  #haveSameValues({ served: old, kind }: KnownEntry, now: Served): boolean {
    return (
      old === now ||
      (old !== undefined &&
        isDeepStrictEqual(
          this.#publicValues(old, kind),
          this.#publicValues(now, kind),
        ))
    );
  }

  /** The values that every caller may read, without the name and the lock. */
  #publicValues({ record, searchOnly }: Served, kind: 'user' | 'group') {
    const { fields, isVisible } = this.#options;
    return fields[kind]
      .filter(
        field => !OTHER_CHANGES.has(field) && isVisible(field, record, kind),
      )
      .map(field => [
        field,
        (record as Readonly<Record<string, unknown>>)[field],
        (searchOnly as Readonly<Record<string, unknown>> | undefined)?.[field],
      ]);
  }

  /**
   * The digest lets another process find changes. With a random salt, the
   * database does not reveal which entries share a value.
   */
  #digestOf(served: Served, kind: 'user' | 'group', salt: string): string {
    return createHash('sha256')
      .update(salt)
      .update(JSON.stringify(this.#publicValues(served, kind)))
      .digest('base64url');
  }

  #stored({ id, kind, name, locked, served }: KnownEntry): StoredEntry {
    const salt = randomBytes(SALT_BYTES).toString('base64url');
    const digest = served ? this.#digestOf(served, kind, salt) : '';
    return { id, kind, name, locked, salt, digest };
  }

  #load({ id, kind, name, locked, salt, digest }: StoredEntry, key: string) {
    const served = this.#find(key)?.served;
    const isSame = served && this.#digestOf(served, kind, salt) === digest;
    this.#add({
      ...newEntry({ id, kind, key }),
      name,
      locked,
      served: isSame ? served : undefined,
    });
  }

  /** The keys of the entries in the tables whose ID is not their key. */
  #keysById(): ReadonlyMap<string, string> {
    const keys = new Map<string, string>();
    const { users, groups } = this.#options.tables;
    for (const { inOrder } of [users.served, groups.served]) {
      for (const { key, uniqueId = key } of inOrder) {
        if (uniqueId !== key) {
          keys.set(uniqueId, key);
        }
      }
    }
    return keys;
  }

  #find(key: string):
    | {
        readonly kind: 'user' | 'group';
        readonly id: string;
        /** `undefined` for a group that is not served. */
        readonly served: Served | undefined;
      }
    | undefined {
    const { users, groups } = this.#options.tables;
    const user = users.served.get(key);
    if (!user && !groups.graph.get(key)) {
      return undefined;
    }
    const served = user ?? groups.served.get(key);
    // An ID that has become unreadable is still the entry's.
    const id = served?.uniqueId ?? this.#get(key)?.id ?? key;
    return { kind: user ? 'user' : 'group', id, served };
  }

  #get(key: string): KnownEntry | undefined {
    return this.#byKey.get(key) ?? this.#byId.get(key);
  }

  #add(entry: KnownEntry): void {
    this.#byId.set(entry.id, entry);
    if (entry.key !== entry.id) {
      this.#byKey.set(entry.key, entry);
    }
  }

  #setKey(entry: KnownEntry, key: string): void {
    this.#byKey.delete(entry.key);
    entry.key = key;
    this.#add(entry);
  }
}

function newEntry(entry: Pick<KnownEntry, 'id' | 'kind' | 'key'>): KnownEntry {
  return {
    ...entry,
    name: undefined,
    locked: false,
    served: undefined,
    groups: [],
    members: [],
  };
}

/** The ID and the present name of a served entry. */
function named({ id, name }: KnownEntry): NewEvent['entry'] {
  return { id, name: name! };
}

/**
 * Returns the items of the parts in which two lists differ. Usually a single
 * member of a large group changes.
 */
function* differingItems(
  old: readonly string[],
  now: readonly string[],
): Iterable<string> {
  if (old === now) {
    return;
  }
  let start = 0;
  while (start < old.length && old[start] === now[start]) {
    start++;
  }
  let oldEnd = old.length;
  let end = now.length;
  while (oldEnd > start && end > start && old[oldEnd - 1] === now[end - 1]) {
    oldEnd--;
    end--;
  }
  for (let index = start; index < oldEnd; index++) {
    yield old[index];
  }
  for (let index = start; index < end; index++) {
    yield now[index];
  }
}
