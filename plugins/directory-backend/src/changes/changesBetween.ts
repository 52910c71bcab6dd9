import type {
  ChangeBatch,
  ChangeKind,
  Membership,
  NewChange,
  StoredEntry,
} from './ChangeLog';
import type { WorkSlices } from './WorkSlices';

/** Maximum number of changes of the members of one group. */
const MAX_MEMBER_CHANGES = 500;

/** A user or group as the change log knows it. */
export interface KnownEntry extends StoredEntry {
  /** IDs of the groups of which the entry is recorded as a direct member. */
  readonly groups: readonly string[];
}

/** Finds an entry by its stable ID. */
type FindEntry = (id: string) => KnownEntry | undefined;

/** Entries before and after changes. */
interface Difference {
  /** Earlier states of all entries that have changed. */
  readonly before: ReadonlyMap<string, KnownEntry | undefined>;
  readonly known: ReadonlyMap<string, KnownEntry>;
  readonly slices: WorkSlices;
}

/** Returns what an append records, with the changes in order. */
export async function changesBetween(
  difference: Difference,
): Promise<ChangeBatch> {
  const { before, known, slices } = difference;
  const deletions: NewChange[] = [];
  const changes: NewChange[] = [];
  const entries: StoredEntry[] = [];
  const deleted: string[] = [];
  const added: Membership[] = [];
  const removed: Membership[] = [];
  /** Entries whose memberships, or those of their members, may differ. */
  const affected = new Set<string>();
  for (const [id, old] of before) {
    await slices.next();
    const entry = known.get(id);
    const [joined, left] = [minus(entry, old), minus(old, entry)];
    if (!entry) {
      deleted.push(id);
    } else {
      added.push(...joined);
      // Those of deleted groups are deleted with the group.
      removed.push(...left.filter(({ group_id }) => known.has(group_id)));
      if (!old || !isSameRow(old, entry)) {
        const { groups: _, ...row } = entry;
        entries.push(row);
      }
    }
    if (!entry || isNew(old, entry) || joined.length + left.length > 0) {
      affected.add(id);
    }
    (entry?.name ? changes : deletions).push(...changesOf(old, entry));
  }
  const memberships = await compareMemberships(difference, {
    affected,
    links: [...added, ...removed],
  });
  return {
    changes: [...deletions, ...changes, ...memberships],
    entries,
    deleted,
    added,
    removed,
  };
}

/** Returns the direct memberships that only the first state has. */
function minus(
  entry: KnownEntry | undefined,
  other: KnownEntry | undefined,
): readonly Membership[] {
  if (!entry || entry.groups === other?.groups) {
    return [];
  }
  const groups = new Set(other?.groups);
  return entry.groups
    .filter(group => !groups.has(group))
    .map(group_id => ({ member_id: entry.id, group_id }));
}

function isSameRow(old: KnownEntry, entry: KnownEntry): boolean {
  return (
    old.name === entry.name &&
    old.locked === entry.locked &&
    old.digest === entry.digest
  );
}

/** Whether an entry is served from now on. */
function isNew(old: KnownEntry | undefined, entry: KnownEntry): boolean {
  return !old?.name && Boolean(entry.name);
}

/** Returns the changes of a served entry, without those of memberships. */
function changesOf(
  old: KnownEntry | undefined,
  entry: KnownEntry | undefined,
): readonly NewChange[] {
  if (!entry?.name) {
    return old?.name ? [changeOf(old, `${old.kind}_deleted`)] : [];
  }
  const { kind } = entry;
  const changes: NewChange[] = [];
  if (!old?.name) {
    changes.push(changeOf(entry, `${kind}_created`));
  } else if (old.name !== entry.name) {
    const renamed = changeOf(entry, `${kind}_renamed`);
    changes.push({ ...renamed, old_name: old.name });
  }
  if (entry.locked !== Boolean(old?.locked)) {
    changes.push(
      changeOf(entry, entry.locked ? 'user_locked' : 'user_unlocked'),
    );
  }
  if (old?.name && old.digest !== entry.digest) {
    changes.push(changeOf(entry, `${kind}_changed`));
  }
  return changes;
}

function changeOf({ id, name }: KnownEntry, kind: ChangeKind): NewChange {
  return { kind, entry_id: id, name: name! };
}

/**
 * Returns the changes of effective memberships in served groups, and
 * `members_changed` for groups with more than 500 of them or with other changes
 * of direct memberships. The memberships of a deleted entry end without changes.
 *
 * @param options.links - direct memberships that have begun or ended
 */
async function compareMemberships(
  difference: Difference,
  options: {
    readonly affected: ReadonlySet<string>;
    readonly links: readonly Membership[];
  },
): Promise<readonly NewChange[]> {
  const { before, known, slices } = difference;
  const find: FindEntry = id => known.get(id);
  const findBefore: FindEntry = id =>
    before.has(id) ? before.get(id) : known.get(id);
  const changes = new Map<string, NewChange[]>();
  const record = (
    kind: 'member_added' | 'member_removed',
    group: KnownEntry,
    member: KnownEntry,
  ) => {
    const list = changes.get(group.id) ?? [];
    changes.set(group.id, list);
    if (list.length <= MAX_MEMBER_CHANGES) {
      list.push({
        kind,
        entry_id: group.id,
        name: group.name!,
        member_kind: member.kind,
        member_id: member.id,
        member_name: member.name!,
      });
    }
  };
  for (const id of await withMembers(difference, options.affected)) {
    await slices.next();
    const member = find(id);
    if (!member?.name) {
      continue;
    }
    const old = groupsOf(id, findBefore);
    const now = groupsOf(id, find);
    for (const group of old) {
      const entry = find(group);
      if (entry?.name && !now.has(group)) {
        record('member_removed', entry, member);
      }
    }
    for (const group of now) {
      if (!old.has(group)) {
        record('member_added', find(group)!, member);
      }
    }
  }
  const reread = new Set<string>();
  for (const [group, list] of changes) {
    if (list.length > MAX_MEMBER_CHANGES) {
      changes.delete(group);
      reread.add(group);
    }
  }
  for (const { member_id, group_id } of options.links) {
    await slices.next();
    const isServed =
      findBefore(member_id)?.name &&
      find(member_id)?.name &&
      find(group_id)?.name;
    const list = changes.get(group_id) ?? [];
    if (isServed && !list.some(change => change.member_id === member_id)) {
      reread.add(group_id);
    }
  }
  return [
    ...[...changes.values()].flat(),
    ...[...reread].map(id => changeOf(find(id)!, 'members_changed')),
  ];
}

/**
 * Returns these entries and the direct and nested members of the groups among
 * them. Members that have left such a group are among the entries.
 */
async function withMembers(
  { before, known, slices }: Difference,
  entries: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const found = new Set(entries);
  const isGroup = (id: string) =>
    (known.get(id) ?? before.get(id))?.kind === 'group';
  let hasGroups = [...found].some(isGroup);
  while (hasGroups) {
    hasGroups = false;
    for (const { id, kind, groups } of known.values()) {
      await slices.next();
      if (!found.has(id) && groups.some(group => found.has(group))) {
        found.add(id);
        hasGroups ||= kind === 'group';
      }
    }
  }
  return found;
}

/** Returns the served groups that a served entry is in. */
function groupsOf(id: string, find: FindEntry): ReadonlySet<string> {
  const entry = find(id);
  const found = new Set(entry?.name ? entry.groups : []);
  // Iteration includes the groups that are added during the loop.
  for (const group of found) {
    for (const further of find(group)?.groups ?? []) {
      found.add(further);
    }
  }
  found.delete(id);
  return new Set([...found].filter(group => find(group)?.name));
}
