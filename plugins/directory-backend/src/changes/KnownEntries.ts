import { createHash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  differingPart,
  type Group,
  type ReplicaTables,
  type ServedRecord,
  type User,
} from '@directory-gateway/directory-core';
import type { ChangeBatch, ChangeLog, EntryKind } from './ChangeLog';
import { changesBetween, type KnownEntry } from './changesBetween';
import { WorkSlices } from './WorkSlices';

const SALT_BYTES = 16;

/** A record of the replica. */
export type Served = ServedRecord<User> | ServedRecord<Group>;

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

  /** Reads the recorded entries, and requests a comparison of all entries. */
  async load(log: ChangeLog): Promise<void> {
    const slices = new WorkSlices();
    for await (const page of log.entries()) {
      await slices.next();
      for (const row of page) {
        const locked = Boolean(row.locked);
        this.#byId.set(row.id, { ...row, locked, groups: [] });
      }
    }
    for await (const page of log.memberships()) {
      await slices.next();
      for (const { group_id, member_id } of page) {
        const group = this.#byId.get(group_id);
        const member = this.#byId.get(member_id);
        if (group && member) {
          const groups = [...member.groups, group.id];
          this.#byId.set(member.id, { ...member, groups });
        }
      }
    }
    await this.requestAll();
  }

  /** Requests a comparison of all entries. */
  async requestAll(): Promise<void> {
    const slices = new WorkSlices();
    const { users, groups } = this.#tables;
    for (const ids of [users.ids(), groups.ids(), this.#byId.keys()]) {
      for (const id of ids) {
        await slices.next();
        this.#written.add(id);
      }
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
    ids: readonly string[],
    recent?: ReadonlySet<string>,
  ): Promise<ChangeBatch> {
    const slices = new WorkSlices();
    const known = this.#byId;
    const before = new Map<string, KnownEntry | undefined>();
    const update = (id: string, entry: KnownEntry | undefined) => {
      const old = known.get(id);
      if (old !== entry && !before.has(id)) {
        before.set(id, old);
      }
      if (entry) {
        known.set(id, entry);
      } else {
        known.delete(id);
      }
    };
    const compared = new Set(ids);
    let hasDeletedGroup = false;
    for (const id of ids) {
      await slices.next();
      const old = known.get(id);
      update(id, recent ? this.#withRemovals(id, recent) : this.#present(id));
      hasDeletedGroup ||= old?.kind === 'group' && !known.has(id);
      const isCreated = !old && known.has(id);
      for (const key of isCreated ? this.#keysOfMembers(id) : []) {
        await slices.next();
        compared.add(this.#idOf(key));
      }
    }
    for (const entry of hasDeletedGroup ? known.values() : []) {
      await slices.next();
      const groups = entry.groups.filter(group => known.has(group));
      if (groups.length < entry.groups.length) {
        update(entry.id, { ...entry, groups });
      }
    }
    for (const id of compared) {
      await slices.next();
      update(id, this.#withGroups(id, recent));
    }
    return changesBetween({ before, known, slices });
  }

  /** Returns an entry as it is in the replica, with the known groups. */
  #present(id: string): KnownEntry | undefined {
    const old = this.#byId.get(id);
    const found = this.#find(id);
    if (!found) {
      return undefined;
    }
    const { kind, served } = found;
    const salt = old?.salt || randomBytes(SALT_BYTES).toString('base64url');
    const entry = {
      id,
      kind,
      name: served?.name ?? null,
      locked: isLocked(served),
      salt,
      digest: served ? this.#digestOf(served, salt) : '',
      groups: old?.groups ?? [],
    };
    return isDeepStrictEqual(old, entry) ? old : entry;
  }

  /** Returns a known entry after a deletion or lock in the replica. */
  #withRemovals(
    id: string,
    recent: ReadonlySet<string>,
  ): KnownEntry | undefined {
    const old = this.#byId.get(id);
    const found = this.#find(id);
    if (old && (!found || (old.name !== null && !found.served))) {
      return recent.has(`${old.kind}_created ${id}`)
        ? old
        : found && { ...old, name: null, digest: '' };
    }
    const isUnlocked = old && !old.locked && !recent.has(`user_unlocked ${id}`);
    return isUnlocked && isLocked(found?.served)
      ? { ...old, locked: true }
      : old;
  }

  /** Returns a known entry with the groups of which it is a direct member. */
  #withGroups(
    id: string,
    recent: ReadonlySet<string> | undefined,
  ): KnownEntry | undefined {
    const known = this.#byId.get(id);
    if (!known) {
      return undefined;
    }
    const present = new Set(
      this.#tables.groups.graph
        .directGroupsOf(this.#keyOf(id))
        .map(key => this.#idOf(key))
        .filter(group => this.#byId.has(group)),
    );
    const kept = known.groups.filter(
      group => present.has(group) || recent?.has(`${id} ${group}`),
    );
    known.groups.forEach(group => present.delete(group));
    const joined = recent ? [] : [...present];
    return kept.length === known.groups.length && joined.length === 0
      ? known
      : { ...known, groups: [...kept, ...joined] };
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
}

function isLocked(served: Served | undefined): boolean {
  return !!served && 'locked' in served.record && served.record.locked === true;
}
