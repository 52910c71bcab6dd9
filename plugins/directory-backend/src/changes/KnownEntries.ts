import { createHash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  differingPart,
  type ReplicaTables,
} from '@directory-gateway/directory-core';
import type {
  ChangeBatch,
  ChangeKind,
  ChangeLog,
  EntryKind,
  Membership,
  NewChange,
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
  /** Entries whose memberships, or those of their members, may differ. */
  readonly affected = new Set<KnownEntry>();
  readonly before = new Map<KnownEntry, StateBefore>();

  /** @param recent - see {@link KnownEntries.compare} */
  constructor(readonly recent: ReadonlySet<string> | undefined) {}

  /** Keeps the state of an entry before its first change. */
  touch(entry: KnownEntry): void {
    if (!this.before.has(entry)) {
      this.before.set(entry, { name: entry.name, groups: entry.groups });
    }
  }
}

/**
 * The users and groups as the change log has recorded them, with their direct
 * memberships. Compared with the replica, they yield the changes.
 */
export class KnownEntries {
  readonly #byId = new Map<string, KnownEntry>();
  /** IDs of entries to compare. */
  readonly #written = new Set<string>();
  /** Keys of members before and after writes of groups. */
  readonly #rewritten: (readonly [readonly string[], readonly string[]])[] = [];
  /** Keys of the direct members of each group at its last write, by stable ID. */
  readonly #members = new Map<string, readonly string[]>();
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
    for (const id of this.#tables.groups.ids()) {
      this.#members.set(id, this.#keysOfMembers(id));
    }
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
          id,
          kind,
          name: name ?? undefined,
          locked: Boolean(locked),
          served: isSame ? served : undefined,
          recorded: isSame ? undefined : { salt, digest },
          groups: [],
        });
      }
    }
    for await (const page of log.memberships()) {
      for (const { group_id, member_id } of page) {
        await slices.next();
        const group = this.#byId.get(group_id);
        const member = this.#byId.get(member_id);
        if (group && member) {
          member.groups = member.groups.concat(group);
        }
      }
    }
  }

  /** Requests a comparison of all entries. */
  async requestAll(): Promise<void> {
    const slices = new WorkSlices();
    for (const id of this.#ids()) {
      await slices.next();
      this.#written.add(id);
    }
  }

  /** Records that entries were written, in the same turn. */
  recordWritten(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#written.add(id);
      const old = this.#members.get(id) ?? [];
      const now = this.#keysOfMembers(id);
      if (old !== now && old.length + now.length > 0) {
        this.#rewritten.push([old, now]);
        this.#members.set(id, now);
      }
    }
  }

  /**
   * Takes IDs of entries to compare: of those that were written, and of members
   * that groups got or lost.
   */
  async takeWritten(limit: number): Promise<readonly string[]> {
    const slices = new WorkSlices();
    for (const [old, now] of this.#rewritten.splice(0)) {
      // Usually a single member of a large group changes.
      const { start, oldEnd, end } = differingPart(old, now);
      for (const key of [
        ...old.slice(start, oldEnd),
        ...now.slice(start, end),
      ]) {
        await slices.next();
        this.#written.add(this.#idOf(key));
      }
    }
    const ids = [...this.#written].slice(0, limit);
    ids.forEach(id => this.#written.delete(id));
    return ids;
  }

  /** The IDs of the known entries and of those in the replica. */
  *#ids(): Iterable<string> {
    yield* this.#tables.users.ids();
    yield* this.#tables.groups.ids();
    yield* this.#byId.keys();
  }

  /**
   * Compares entries with the replica, and records its state. If appending the
   * result fails, this object must not be used again. Yields to the event loop
   * in between; entries that are written in the meantime must be compared again.
   *
   * @param recent - additions that the server may lack, from
   *   {@link ChangeLog.recentAdditions}: only deleted and locked entries and
   *   removed members are compared, without differences that revert them.
   *   Default: everything is compared.
   */
  async compare(
    ids: Iterable<string>,
    recent?: ReadonlySet<string>,
  ): Promise<ChangeBatch> {
    const comparison = new Comparison(recent);
    const { slices, deletions, changes } = comparison;
    const compared = new Set<string>();
    for (const id of ids) {
      await slices.next();
      compared.add(id);
      if (this.#compareEntry(id, comparison) === 'created') {
        for (const key of this.#keysOfMembers(id)) {
          await slices.next();
          compared.add(this.#idOf(key));
        }
      }
    }
    for (const id of compared) {
      await slices.next();
      this.#compareGroups(id, comparison);
    }
    const memberships = await compareMemberships({
      ...comparison,
      links: [...comparison.added, ...comparison.removed],
      known: this.#byId,
    });
    const entries: StoredEntry[] = [];
    for (const entry of comparison.changed) {
      await slices.next();
      entries.push(this.#stored(entry));
    }
    return {
      changes: [...deletions, ...changes, ...memberships],
      entries,
      deleted: comparison.deleted,
      added: comparison.added.map(membershipOf),
      removed: comparison.removed.map(membershipOf),
    };
  }

  #compareEntry(id: string, comparison: Comparison): 'created' | 'known' {
    const { recent } = comparison;
    const found = this.#find(id);
    let known = this.#byId.get(id);
    const isLost = known?.name !== undefined && !found?.served;
    if (
      known &&
      (isLost || !found) &&
      recent?.has(`${known.kind}_created ${id}`)
    ) {
      return 'known';
    }
    if (known && known.kind !== found?.kind) {
      this.#delete(known, comparison);
      known = undefined;
    }
    if (!found || (!known && recent)) {
      return 'known';
    }
    const isNew = !known;
    known ??= {
      id,
      kind: found.kind,
      name: undefined,
      locked: false,
      served: undefined,
      recorded: undefined,
      groups: [],
    };
    this.#byId.set(id, known);
    comparison.touch(known);
    this.#compareRecord(known, found.served, comparison);
    if (isNew) {
      comparison.changed.add(known);
    }
    return isNew ? 'created' : 'known';
  }

  #compareRecord(
    known: KnownEntry,
    served: Served | undefined,
    { deletions, changes, changed, affected, recent }: Comparison,
  ): void {
    const { id, name: oldName, locked: wasLocked } = known;
    const isNew = oldName === undefined && served !== undefined;
    const isGone = oldName !== undefined && served === undefined;
    if (isNew && recent) {
      return;
    }
    const isChanged =
      !isNew && !isGone && !recent && !this.#hasSameValues(known, served);
    const isLocked =
      !!served && 'locked' in served.record && served.record.locked === true;
    const record = (what: string, list = changes, old?: string) => {
      list.push({ ...changeOf(known, what), ...(old && { oldName: old }) });
      changed.add(known);
    };
    if (isGone) {
      record('deleted', deletions);
    }
    if (isGone || !recent) {
      known.served = served;
      known.recorded = undefined;
      known.name = served?.name;
    }
    known.locked = recent
      ? wasLocked || (isLocked && !recent.has(`user_unlocked ${id}`))
      : isLocked;
    if (isNew) {
      record('created');
      affected.add(known);
    } else if (!isGone && known.name !== oldName) {
      record('renamed', changes, oldName);
    }
    if (known.locked !== wasLocked) {
      record(known.locked ? 'locked' : 'unlocked');
    }
    if (isChanged) {
      record('changed');
    }
  }

  #delete(known: KnownEntry, comparison: Comparison): void {
    comparison.touch(known);
    if (known.name !== undefined) {
      comparison.deletions.push(changeOf(known, 'deleted'));
    }
    comparison.deleted.push(known.id);
    comparison.affected.add(known);
    this.#byId.delete(known.id);
    known.name = undefined;
    known.groups = [];
  }

  /** Compares the groups of which an entry is a direct member. */
  #compareGroups(id: string, comparison: Comparison): void {
    const { recent } = comparison;
    const known = this.#byId.get(id);
    if (!known) {
      return;
    }
    const present = new Set(
      this.#tables.groups.graph
        .directGroupsOf(this.#keyOf(id))
        .flatMap(key => this.#byId.get(this.#idOf(key)) ?? []),
    );
    const lost = known.groups.filter(
      group => !present.has(group) && !recent?.has(`${id} ${group.id}`),
    );
    known.groups.forEach(group => present.delete(group));
    const joined = recent ? [] : [...present];
    if (joined.length + lost.length === 0) {
      return;
    }
    comparison.touch(known);
    comparison.affected.add(known);
    joined.forEach(group => comparison.added.push({ member: known, group }));
    lost.forEach(group => comparison.removed.push({ member: known, group }));
    known.groups = known.groups
      .filter(group => !lost.includes(group))
      .concat(joined);
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
    { served: old, recorded }: KnownEntry,
    now: Served | undefined,
  ): boolean {
    if (!now) {
      return true;
    }
    if (recorded) {
      return this.#digestOf(now, recorded.salt) === recorded.digest;
    }
    return (
      !old ||
      old === now ||
      isDeepStrictEqual(this.#publicValues(old), this.#publicValues(now))
    );
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

  #stored(entry: KnownEntry): StoredEntry {
    const { id, kind, name = null, locked, served, recorded } = entry;
    if (recorded) {
      return { id, kind, name, locked, ...recorded };
    }
    const salt = randomBytes(SALT_BYTES).toString('base64url');
    const digest = served ? this.#digestOf(served, salt) : '';
    return { id, kind, name, locked, salt, digest };
  }
}

function membershipOf({ member, group }: Link): Membership {
  return { member_id: member.id, group_id: group.id };
}

/** Returns a change of a served entry. */
function changeOf({ id, kind, name }: KnownEntry, what: string): NewChange {
  return { kind: `${kind}_${what}` as ChangeKind, entryId: id, name: name! };
}
