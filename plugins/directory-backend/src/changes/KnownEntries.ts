import { createHash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  differingPart,
  type ReplicaTables,
} from '@directory-gateway/directory-core';
import type {
  ChangeBatch,
  ChangeLog,
  EntryKind,
  Membership,
  NewChange,
  RecentChanges,
  StoredEntry,
} from './ChangeLog';
import {
  compareMemberships,
  type KnownEntry,
  type Link,
  type Served,
  type StateBefore,
} from './compareMemberships';
import { WorkSlices } from './WorkSlices';

const SALT_BYTES = 16;

/** A comparison in progress. */
class Comparison {
  readonly slices = new WorkSlices();
  readonly deletions: NewChange[] = [];
  readonly changes: NewChange[] = [];
  readonly changed = new Set<KnownEntry>();
  readonly deleted: string[] = [];
  readonly added: Link[] = [];
  readonly removed: Link[] = [];
  /** IDs of entries whose groups are to be compared. */
  readonly linked = new Set<string>();
  /** Keys or IDs of members that groups may have lost or got. */
  readonly members: Iterable<string>[] = [];
  /** Entries whose memberships, or those of their members, may differ. */
  readonly affected = new Set<KnownEntry>();
  readonly before = new Map<KnownEntry, StateBefore>();

  /** @param recent - see {@link KnownEntries.compare} */
  constructor(readonly recent: RecentChanges | undefined) {}

  /** Whether to leave out differences that add or allow. */
  get isStrict(): boolean {
    return this.recent !== undefined;
  }

  /** Keeps the state of an entry before its first change. */
  touch(entry: KnownEntry): void {
    if (!this.before.has(entry)) {
      this.before.set(entry, { name: entry.name, groups: entry.groups });
    }
  }
}

/**
 * The users and groups as the change log has recorded them, with the direct
 * members of all groups. Compared with the replica, they yield the changes.
 */
export class KnownEntries {
  readonly #byId = new Map<string, KnownEntry>();
  readonly #tables: ReplicaTables;
  readonly #publicValues: (served: Served) => unknown;

  /**
   * @param options.publicValues - returns the values that every caller may
   *   read, without the name and the lock
   */
  constructor(options: {
    readonly tables: ReplicaTables;
    readonly publicValues: (served: Served) => unknown;
  }) {
    this.#tables = options.tables;
    this.#publicValues = options.publicValues;
  }

  /** Reads the recorded entries. */
  async load(log: ChangeLog): Promise<void> {
    const slices = new WorkSlices();
    for await (const page of log.entries()) {
      for (const { id, kind, name, locked, salt, digest } of page) {
        await slices.next();
        const served = this.#find(id)?.served;
        const isSame = served && this.#digestOf(served, salt) === digest;
        this.#byId.set(id, {
          ...newEntry(id, kind),
          name: name ?? undefined,
          locked: Boolean(locked),
          served: isSame ? served : undefined,
          stored: served ? undefined : { salt, digest },
        });
      }
    }
    for await (const page of log.memberships()) {
      for (const { group_id, member_id } of page) {
        await slices.next();
        const group = this.#byId.get(group_id);
        const member = this.#byId.get(member_id);
        if (group && member) {
          (group.members as string[]).push(member.id);
          member.groups = member.groups.concat(group);
        }
      }
    }
  }

  /** The IDs of the known entries and of those in the replica. */
  *ids(): Iterable<string> {
    yield* this.#tables.users.ids();
    yield* this.#tables.groups.ids();
    yield* this.#byId.keys();
  }

  /**
   * Compares entries with the replica, and records its state. If appending the
   * result fails, this object must not be used again. Yields to the event loop
   * in between; entries that are written in the meantime must be compared again.
   *
   * @param recent - what the server may lack: the comparison leaves out
   *   differences that revert it, entries that were created, renamed or
   *   unlocked, and new members. Default: nothing is left out.
   */
  async compare(
    ids: Iterable<string>,
    recent?: RecentChanges,
  ): Promise<ChangeBatch> {
    const comparison = new Comparison(recent);
    const { slices, linked, deletions, changes } = comparison;
    for (const id of ids) {
      await slices.next();
      this.#compareEntry(id, comparison);
    }
    for (const members of comparison.members) {
      for (const key of members) {
        await slices.next();
        linked.add(this.#idOf(key));
      }
    }
    for (const id of linked) {
      await slices.next();
      this.#compareGroups(id, comparison);
    }
    const memberships = await compareMemberships({
      ...comparison,
      links: [...comparison.added, ...comparison.removed],
      membersOf: group => this.#membersOf(group),
    });
    const entries: StoredEntry[] = [];
    for (const entry of comparison.changed) {
      await slices.next();
      entries.push(this.#stored(entry));
    }
    return {
      ...comparison,
      changes: [...deletions, ...changes, ...memberships],
      entries,
      added: comparison.added.map(membershipOf),
      removed: comparison.removed.map(membershipOf),
    };
  }

  #compareEntry(id: string, comparison: Comparison): void {
    const found = this.#find(id);
    let known = this.#byId.get(id);
    const isServed = found?.served !== undefined;
    const wasServed = known?.name !== undefined;
    const isLost = known && (!found || (wasServed && !isServed));
    if (isLost && comparison.recent?.created.has(id)) {
      return;
    }
    if (known && known.kind !== found?.kind) {
      this.#delete(known, comparison);
      known = undefined;
    }
    if (!found) {
      return;
    }
    comparison.linked.add(id);
    if (!known) {
      if (comparison.isStrict) {
        return;
      }
      known = newEntry(id, found.kind);
      this.#byId.set(id, known);
      comparison.changed.add(known);
    }
    comparison.touch(known);
    this.#compareRecord(known, found.served, comparison);
    if (found.kind === 'group') {
      const members = this.#keysOfMembers(id);
      comparison.members.push(
        differingItems(known.members, members),
        known.relinked,
      );
      known.members = members;
      known.relinked = [];
    }
  }

  #compareRecord(
    known: KnownEntry,
    served: Served | undefined,
    comparison: Comparison,
  ): void {
    const { deletions, changes, isStrict, recent } = comparison;
    const { name: oldName, locked: wasLocked } = known;
    const isLocked =
      !!served && 'locked' in served.record && served.record.locked === true;
    const isUncertain =
      isLocked && !wasLocked && recent?.unlocked.has(known.id) === true;
    const locked = isLocked && !isUncertain;
    const isNew = oldName === undefined && served !== undefined;
    const isGone = oldName !== undefined && served === undefined;
    const isRenamed = !isNew && !isGone && oldName !== served?.name;
    const allows = isNew || isRenamed || (wasLocked && !locked);
    const isChanged = !isNew && !isGone && !this.#hasSameValues(known, served);
    if (isStrict && isNew) {
      return;
    }
    if (isGone) {
      deletions.push(changeOf(known, 'deleted'));
    }
    if (!(isStrict && isRenamed)) {
      known.name = served?.name;
    }
    known.locked = locked || (isStrict && wasLocked);
    known.served = served;
    known.stored = undefined;
    if (isNew) {
      changes.push(changeOf(known, 'created'));
      comparison.affected.add(known);
    }
    if (isRenamed && !isStrict) {
      changes.push({ ...changeOf(known, 'renamed'), oldName });
    }
    if (known.locked !== wasLocked) {
      changes.push(changeOf(known, locked ? 'locked' : 'unlocked'));
    }
    if (isChanged) {
      changes.push(changeOf(known, 'changed'));
    }
    if (isGone || allows || isChanged || known.locked !== wasLocked) {
      comparison.changed.add(known);
    }
  }

  #delete(known: KnownEntry, comparison: Comparison): void {
    comparison.touch(known);
    if (known.name !== undefined) {
      comparison.deletions.push(changeOf(known, 'deleted'));
    }
    comparison.deleted.push(known.id);
    comparison.members.push(known.members, known.relinked);
    this.#byId.delete(known.id);
    known.name = undefined;
    known.groups = [];
  }

  /** Compares the groups of which an entry is a direct member. */
  #compareGroups(id: string, comparison: Comparison): void {
    const known = this.#byId.get(id);
    if (!known) {
      return;
    }
    const present = new Set(
      this.#tables.groups.graph
        .directGroupsOf(this.#keyOf(id))
        .flatMap(key => this.#byId.get(this.#idOf(key)) ?? []),
    );
    const joined = comparison.recent?.joined.get(id);
    const missing = known.groups.filter(group => !present.has(group));
    const uncertain = missing.filter(group => joined?.has(group.id));
    const lost = missing.filter(group => !uncertain.includes(group));
    const kept = known.groups.filter(group => !lost.includes(group));
    kept.forEach(group => present.delete(group));
    uncertain.forEach(group => group.relinked.push(id));
    if (comparison.isStrict) {
      present.clear();
    }
    if (present.size + lost.length === 0) {
      return;
    }
    comparison.touch(known);
    comparison.affected.add(known);
    present.forEach(group => comparison.added.push({ member: known, group }));
    lost.forEach(group => comparison.removed.push({ member: known, group }));
    for (const group of [...present, ...lost]) {
      // A group that was written since may be written back without a difference.
      if (this.#keysOfMembers(group.id) !== group.members) {
        group.relinked.push(id);
      }
    }
    known.groups = kept.concat([...present]);
  }

  /** Yields the recorded direct members of a group. */
  *#membersOf(group: KnownEntry): Iterable<KnownEntry> {
    for (const key of [...group.members, ...group.relinked]) {
      const member = this.#byId.get(this.#idOf(key));
      if (member?.groups.includes(group)) {
        yield member;
      }
    }
  }

  /** Returns an entry of the replica; a group that is not served has no record. */
  #find(
    id: string,
  ): { readonly kind: EntryKind; readonly served?: Served } | undefined {
    const { users, groups } = this.#tables;
    const user = users.served.get(users.keyOf(id) ?? '');
    if (user) {
      return { kind: 'user', served: user };
    }
    const key = groups.keyOf(id);
    return key === undefined
      ? undefined
      : { kind: 'group', served: groups.served.get(key) };
  }

  /** Returns the keys of a group's direct members; another list when written. */
  #keysOfMembers(id: string): readonly string[] {
    return this.#tables.groups.graph.directMembersOf(this.#keyOf(id));
  }

  /** Returns the stable ID of an entry; the key of an entry that is missing. */
  #idOf(key: string): string {
    const { users, groups } = this.#tables;
    return users.idOf(key) ?? groups.idOf(key) ?? key;
  }

  #keyOf(id: string): string {
    const { users, groups } = this.#tables;
    return users.keyOf(id) ?? groups.keyOf(id) ?? id;
  }

  #hasSameValues(
    { served: old, stored }: KnownEntry,
    now: Served | undefined,
  ): boolean {
    if (old === now || now === undefined) {
      return old === now;
    }
    return old
      ? isDeepStrictEqual(this.#publicValues(old), this.#publicValues(now))
      : stored?.digest === this.#digestOf(now, stored?.salt ?? '');
  }

  /**
   * The digest lets another process find changes. With a random salt, the
   * database does not reveal which entries share a value.
   */
  #digestOf(served: Served, salt: string): string {
    return createHash('sha256')
      .update(salt)
      .update(JSON.stringify(this.#publicValues(served)))
      .digest('base64url');
  }

  #stored({ id, kind, name, locked, served }: KnownEntry): StoredEntry {
    const salt = randomBytes(SALT_BYTES).toString('base64url');
    const digest = served ? this.#digestOf(served, salt) : '';
    return { id, kind, name: name ?? null, locked, salt, digest };
  }
}

function newEntry(id: string, kind: EntryKind): KnownEntry {
  return {
    id,
    kind,
    name: undefined,
    locked: false,
    served: undefined,
    stored: undefined,
    groups: [],
    members: [],
    relinked: [],
  };
}

function membershipOf({ member, group }: Link): Membership {
  return { member_id: member.id, group_id: group.id };
}

/** Returns a change of a served entry. */
function changeOf<What extends string>(
  { id, kind, name }: KnownEntry,
  what: What,
) {
  const changeKind = `${kind}_${what}` as NewChange['kind'];
  return { kind: changeKind, entryId: id, name: name! };
}

/**
 * Returns the items of the parts in which two lists differ. Usually a single
 * member of a large group changes.
 */
function* differingItems(
  old: readonly string[],
  now: readonly string[],
): Iterable<string> {
  const { start, oldEnd, end } = differingPart(old, now);
  for (let index = start; index < oldEnd; index++) {
    yield old[index];
  }
  for (let index = start; index < end; index++) {
    yield now[index];
  }
}
