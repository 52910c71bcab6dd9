import type {
  Group,
  ServedRecord,
  User,
} from '@directory-gateway/directory-core';
import type { EntryKind, NewChange, StoredEntry } from './ChangeLog';
import type { WorkSlices } from './WorkSlices';

/** Maximum number of changes of the members of one group. */
const MAX_MEMBER_CHANGES = 500;

/** A record of the replica. */
export type Served = ServedRecord<User> | ServedRecord<Group>;

/** A user or group as the change log knows it. */
export interface KnownEntry {
  readonly id: string;
  readonly kind: EntryKind;
  /** `undefined` for a group that is not served. */
  name: string | undefined;
  locked: boolean;
  /** Record at the last comparison. */
  served: Served | undefined;
  /**
   * Recorded values that were not those of the replica when they were loaded;
   * `undefined` once they are compared.
   */
  recorded: Pick<StoredEntry, 'salt' | 'digest'> | undefined;
  /** Groups of which the entry is recorded as a direct member. */
  groups: readonly KnownEntry[];
}

/** A direct membership that has begun or ended. */
export interface Link {
  readonly member: KnownEntry;
  readonly group: KnownEntry;
}

/** State of an entry before a comparison. */
export type StateBefore = Pick<KnownEntry, 'name' | 'groups'>;

/**
 * Returns the changes of effective memberships in served groups, and
 * `members_changed` for groups with more than 500 of them or with other changes
 * of direct memberships. The memberships of a deleted entry end without changes.
 */
export async function compareMemberships(options: {
  /** Entries whose memberships, or those of their members, may differ. */
  readonly affected: ReadonlySet<KnownEntry>;
  /** Earlier states of the entries that have changed. */
  readonly before: ReadonlyMap<KnownEntry, StateBefore>;
  /** Direct memberships that have begun or ended. */
  readonly links: readonly Link[];
  readonly known: ReadonlyMap<string, KnownEntry>;
  readonly slices: WorkSlices;
}): Promise<readonly NewChange[]> {
  const { before, links, slices } = options;
  const stateBefore = (entry: KnownEntry) => before.get(entry) ?? entry;
  const changes = new Map<KnownEntry, NewChange[]>();
  const record = (
    kind: 'member_added' | 'member_removed',
    group: KnownEntry,
    member: KnownEntry,
  ) => {
    const list = changes.get(group) ?? [];
    changes.set(group, list);
    if (list.length <= MAX_MEMBER_CHANGES) {
      list.push({
        kind,
        entryId: group.id,
        name: group.name!,
        memberKind: member.kind,
        memberId: member.id,
        memberName: member.name!,
      });
    }
  };
  for (const member of await withMembers(options)) {
    await slices.next();
    const old = groupsOf(member, stateBefore);
    const now = groupsOf(member, entry => entry);
    for (const group of member.name === undefined ? [] : old) {
      if (group.name !== undefined && !now.has(group)) {
        record('member_removed', group, member);
      }
    }
    for (const group of now) {
      if (!old.has(group)) {
        record('member_added', group, member);
      }
    }
  }
  const changed = new Set<KnownEntry>();
  for (const [group, list] of changes) {
    if (list.length > MAX_MEMBER_CHANGES) {
      changes.delete(group);
      changed.add(group);
    }
  }
  for (const { member, group } of links) {
    await slices.next();
    const names = [stateBefore(member).name, member.name, group.name];
    const list = changes.get(group) ?? [];
    if (
      !names.includes(undefined) &&
      !list.some(({ memberId }) => memberId === member.id)
    ) {
      changed.add(group);
    }
  }
  return [
    ...[...changes.values()].flat(),
    ...[...changed].map(({ id, name }) => ({
      kind: 'members_changed' as const,
      entryId: id,
      name: name!,
    })),
  ];
}

/**
 * Returns these entries and the direct and nested members of the groups among
 * them. Members that have left such a group are among the entries.
 */
async function withMembers({
  affected,
  known,
  slices,
}: Pick<
  Parameters<typeof compareMemberships>[0],
  'affected' | 'known' | 'slices'
>): Promise<ReadonlySet<KnownEntry>> {
  const found = new Set(affected);
  let hasGroups = [...found].some(({ kind }) => kind === 'group');
  while (hasGroups) {
    hasGroups = false;
    for (const entry of known.values()) {
      await slices.next();
      if (!found.has(entry) && entry.groups.some(group => found.has(group))) {
        found.add(entry);
        hasGroups ||= entry.kind === 'group';
      }
    }
  }
  return found;
}

/** Returns the served groups that a served entry is in. */
function groupsOf(
  entry: KnownEntry,
  stateOf: (entry: KnownEntry) => StateBefore,
): ReadonlySet<KnownEntry> {
  const { name, groups } = stateOf(entry);
  const found = new Set(name === undefined ? [] : groups);
  // Iteration includes the groups that are added during the loop.
  for (const group of found) {
    for (const further of stateOf(group).groups) {
      found.add(further);
    }
  }
  found.delete(entry);
  for (const group of found) {
    if (stateOf(group).name === undefined) {
      found.delete(group);
    }
  }
  return found;
}
