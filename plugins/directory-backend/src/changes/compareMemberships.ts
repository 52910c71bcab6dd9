import type { NewEvent } from './ChangeStore';
import type { KnownEntry, StateBefore } from './KnownEntries';
import type { WorkSlices } from './WorkSlices';

/** Maximum number of events about the members of one group. */
const MAX_MEMBER_EVENTS = 500;

/** Differences of one group. */
interface Difference {
  /** Number of members that were added or removed. */
  count: number;
  readonly removed: KnownEntry[];
  readonly added: KnownEntry[];
}

/**
 * Returns the changes of effective memberships in served groups, removals
 * first. The memberships of a deleted entry end without events.
 */
export async function compareMemberships(options: {
  /** Entries whose memberships, or those of their members, may differ. */
  readonly affected: ReadonlySet<KnownEntry>;
  /** Earlier states of the entries that have changed. */
  readonly before: ReadonlyMap<KnownEntry, StateBefore>;
  /** Yields the direct members of a group. */
  readonly membersOf: (group: KnownEntry) => Iterable<KnownEntry | undefined>;
  readonly slices: WorkSlices;
}): Promise<readonly NewEvent[]> {
  const { before, membersOf, slices } = options;
  const affected = new Set(options.affected);
  // Iteration includes the members that are added to the set during the loop.
  // Members that have left an affected group since are affected themselves.
  for (const entry of affected) {
    for (const member of membersOf(entry)) {
      await slices.next();
      if (member) {
        affected.add(member);
      }
    }
  }
  const stateBefore = (entry: KnownEntry) => before.get(entry) ?? entry;
  const differences = new Map<KnownEntry, Difference>();
  const record = (
    group: KnownEntry,
    member: KnownEntry,
    list: 'added' | 'removed',
  ) => {
    let difference = differences.get(group);
    if (!difference) {
      difference = { count: 0, removed: [], added: [] };
      differences.set(group, difference);
    }
    difference.count++;
    if (difference.count <= MAX_MEMBER_EVENTS) {
      difference[list].push(member);
    }
  };
  for (const member of affected) {
    await slices.next();
    if (member.name === undefined) {
      continue;
    }
    const old =
      stateBefore(member).name === undefined
        ? new Set<KnownEntry>()
        : groupsOf(member, stateBefore);
    const now = groupsOf(member, entry => entry);
    for (const group of old) {
      if (group.name !== undefined && !now.has(group)) {
        record(group, member, 'removed');
      }
    }
    for (const group of now) {
      if (group.name !== undefined && !old.has(group)) {
        record(group, member, 'added');
      }
    }
  }
  return eventsOf(differences);
}

/** Returns the served groups that an entry is in. */
function groupsOf(
  entry: KnownEntry,
  stateOf: (entry: KnownEntry) => StateBefore,
): ReadonlySet<KnownEntry> {
  const found = new Set(stateOf(entry).groups);
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

function eventsOf(
  differences: ReadonlyMap<KnownEntry, Difference>,
): readonly NewEvent[] {
  const removals: NewEvent[] = [];
  const others: NewEvent[] = [];
  for (const [{ id, name }, { count, removed, added }] of differences) {
    const entry = { id, name: name! };
    if (count > MAX_MEMBER_EVENTS) {
      others.push({ kind: 'members_changed', entry });
      continue;
    }
    for (const member of removed) {
      removals.push({
        kind: 'member_removed',
        entry,
        member: memberOf(member),
      });
    }
    for (const member of added) {
      others.push({ kind: 'member_added', entry, member: memberOf(member) });
    }
  }
  return [...removals, ...others];
}

function memberOf({ id, kind, name }: KnownEntry): NewEvent['member'] {
  return { id, kind, name: name! };
}
