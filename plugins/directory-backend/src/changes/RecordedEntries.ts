import { isDeepStrictEqual } from 'node:util';
import type { Group, User } from '../directory/records';
import type { ReplicaTables } from '../replica/tables/ReplicaTables';
import type { ServedRecord } from '../replica/tables/RowBlock';
import type { SecretKey } from '../secretKeys';
import type {
  ChangeBatch,
  Membership,
  NewChange,
  RecordedEntry,
} from './ChangeLog';
import { digestsOf, type RecordedValues, valuesOf } from './Digests';

/** A record of the replica. */
type Served = ServedRecord<User> | ServedRecord<Group>;

/** A recorded entry with the data for comparisons. */
interface Recorded extends Omit<RecordedEntry, 'digests' | 'keyId'> {
  /** Ids of the direct members of a group, ascending. */
  readonly members: Uint32Array;
  /** Digests until the first comparison, then values. */
  readonly compared:
    | {
        readonly by: 'digests';
        readonly digests: string;
        readonly keyId: string;
      }
    | { readonly by: 'values'; readonly values: RecordedValues };
}

/** Options of {@link RecordedEntries}. */
export interface RecordedEntriesOptions {
  readonly tables: ReplicaTables;
  /** The first key creates new digests; stored digests may use any key. */
  readonly keys: readonly [SecretKey, ...SecretKey[]];
  /** Names of the fields that the directory provides. */
  readonly fields: Readonly<Record<'user' | 'group', readonly string[]>>;
  readonly lastEntryId: number;
  /** Whether every caller may read a field of an entry. */
  readonly isVisible: (
    field: string,
    record: User | Group,
    kind: 'user' | 'group',
  ) => boolean;
}

const NO_MEMBERS = new Uint32Array();

/** Fields whose changes have a kind other than `*_changed`. */
const OTHER_CHANGES: ReadonlySet<string> = new Set([
  'name',
  'username',
  'groupname',
  'locked',
]);

/** A comparison in progress. */
class Comparison {
  readonly changes: NewChange[] = [];
  readonly ended: NewChange[] = [];
  readonly begun: NewChange[] = [];
  readonly deletions: NewChange[] = [];
  readonly deleted: number[] = [];
  readonly added: Membership[] = [];
  readonly removed: Membership[] = [];
  readonly postponed: string[] = [];
  readonly entries = new Map<number, RecordedEntry>();

  /** In an order in which the changes can be applied one after the other. */
  get batch(): ChangeBatch {
    return {
      changes: [
        ...this.deletions,
        ...this.changes,
        ...this.ended,
        ...this.begun,
      ],
      entries: [...this.entries.values()],
      deleted: this.deleted,
      added: this.added,
      removed: this.removed,
    };
  }
}

/**
 * The users and groups as the change log has recorded them. Compared with the
 * tables of the replica, they yield the changes to append.
 *
 * Entries are identified by `ipaUniqueID` where both sides have one, otherwise
 * by their key, so that a service account that gains or loses the right to read
 * it does not cause changes.
 */
export class RecordedEntries {
  readonly #options: RecordedEntriesOptions;
  readonly #byKey = new Map<string, Recorded>();
  readonly #byId = new Map<number, Recorded>();
  readonly #keysByUniqueId = new Map<string, string>();
  #lastEntryId: number;

  constructor(options: RecordedEntriesOptions) {
    this.#options = options;
    this.#lastEntryId = options.lastEntryId;
  }

  /** ID of the last recorded entry. */
  get lastEntryId(): number {
    return this.#lastEntryId;
  }

  /** Adds an entry from the database. */
  load(entry: RecordedEntry & { readonly members: readonly number[] }): void {
    const { digests, keyId, ...recorded } = entry;
    this.#set({
      ...recorded,
      members: sorted(entry.members),
      compared: { by: 'digests', digests, keyId },
    });
  }

  /** The keys of the recorded entries and of those in the tables. */
  keys(): Iterable<string> {
    const { users, groups } = this.#options.tables;
    return new Set([
      ...users.served.keys(),
      ...groups.served.keys(),
      ...this.#byKey.keys(),
    ]);
  }

  /** Whether the tables contain an entry. */
  isPresent(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /**
   * Compares entries with the tables, and records the state of the tables. If
   * appending the result fails, this object must not be used again.
   *
   * Entries that are missing from the tables must be compared last, so that a
   * renamed entry is not taken for a deleted one.
   *
   * @returns the batch to append, and the keys of renamed entries whose old key
   *   the tables still contain: compare them again later
   */
  compare(keys: readonly string[]): {
    readonly batch: ChangeBatch;
    readonly postponed: readonly string[];
  } {
    const comparison = new Comparison();
    const groups = new Set<string>();
    const { graph } = this.#options.tables.groups;
    for (const key of keys) {
      const isNew = this.#compareEntry(key, comparison);
      if (graph.get(key)) {
        groups.add(key);
      }
      if (isNew) {
        graph.directGroupsOf(key).forEach(group => groups.add(group));
      }
    }
    for (const key of groups) {
      this.#compareMembers(key, comparison);
    }
    const { batch, postponed } = comparison;
    return { batch, postponed };
  }

  /** @returns whether memberships of the entry may have to be recorded */
  #compareEntry(key: string, comparison: Comparison): boolean {
    const present = this.#find(key);
    const recorded = this.#byKey.get(key);
    const isSame = haveSameId(recorded, present?.served);
    if (recorded && (!present || !isSame || present.kind !== recorded.kind)) {
      this.#delete(recorded, comparison);
    }
    if (!present) {
      return recorded !== undefined;
    }
    const { served, kind } = present;
    if (recorded && isSame && present.kind === recorded.kind) {
      this.#update(recorded, served, comparison);
      return false;
    }
    const oldKey = this.#keysByUniqueId.get(served.uniqueId ?? '');
    if (oldKey === undefined) {
      this.#create({ kind, served }, comparison);
      return true;
    }
    const renamed = this.#byKey.get(oldKey)!;
    if (renamed.kind === kind && !this.#isKept(renamed)) {
      this.#update(renamed, served, comparison);
      return true;
    }
    // The old key is compared again when the tables have deleted it.
    comparison.postponed.push(key);
    return false;
  }

  #create(
    options: {
      readonly kind: 'user' | 'group';
      readonly served: Served;
    },
    comparison: Comparison,
  ): void {
    const { kind, served } = options;
    const entry = recordedOf(served, {
      id: ++this.#lastEntryId,
      kind,
      members: NO_MEMBERS,
    });
    comparison.changes.push({ kind: `${kind}_created`, entry });
    if (entry.locked) {
      comparison.changes.push({ kind: 'user_locked', entry });
    }
    this.#record(entry, comparison);
  }

  #update(recorded: Recorded, served: Served, comparison: Comparison): void {
    const { kind } = recorded;
    const { changed, isOutdated } = this.#compareFields(recorded, served);
    const isMoved = recorded.key !== served.key;
    const isIdentified =
      recorded.uniqueId === undefined && served.uniqueId !== undefined;
    const entry = recordedOf(served, recorded);
    if (!isMoved && !isIdentified && !isOutdated && changed.length === 0) {
      this.#set(entry);
      return;
    }
    const { changes } = comparison;
    if (entry.name !== recorded.name) {
      changes.push({ kind: `${kind}_renamed`, entry, oldName: recorded.name });
    }
    if (entry.locked !== recorded.locked) {
      changes.push({
        kind: entry.locked ? 'user_locked' : 'user_unlocked',
        entry,
      });
    }
    const fields = changed.filter(
      field =>
        !OTHER_CHANGES.has(field) &&
        this.#options.isVisible(field, served.record, kind),
    );
    if (fields.length > 0) {
      changes.push({ kind: `${kind}_changed`, entry, fields });
    }
    this.#remove(recorded);
    this.#record(entry, comparison);
  }

  #delete(recorded: Recorded, comparison: Comparison): void {
    const entry = recorded;
    comparison.deletions.push({ kind: `${entry.kind}_deleted`, entry });
    comparison.deleted.push(entry.id);
    this.#remove(recorded);
  }

  #compareMembers(key: string, comparison: Comparison): void {
    const group = this.#byKey.get(key);
    if (group?.kind !== 'group' || !this.isPresent(key)) {
      return;
    }
    const { graph } = this.#options.tables.groups;
    const members = sorted(
      graph
        .directMembersOf(key)
        .flatMap(member => this.#byKey.get(member)?.id ?? []),
    );
    for (const id of missing(group.members, members)) {
      // A deleted member is not removed again.
      const member = this.#byId.get(id);
      if (member) {
        comparison.removed.push([group.id, id]);
        comparison.ended.push({ kind: 'member_removed', entry: group, member });
      }
    }
    for (const id of missing(members, group.members)) {
      comparison.added.push([group.id, id]);
      comparison.begun.push({
        kind: 'member_added',
        entry: group,
        member: this.#byId.get(id)!,
      });
    }
    this.#set({ ...group, members });
  }

  #compareFields(
    { id, kind, name, locked, compared }: Recorded,
    served: Served,
  ): {
    /** Names of fields; `name` and `locked` when they have no digests. */
    readonly changed: readonly string[];
    /** Whether the digests cover other fields or use another key. */
    readonly isOutdated: boolean;
  } {
    const fields = this.#options.fields[kind];
    if (compared.by === 'values') {
      const { values } = compared;
      const changed = fields.filter(
        field =>
          !isDeepStrictEqual(valuesOf(values, field), valuesOf(served, field)),
      );
      return { changed, isOutdated: false };
    }
    const changed = [
      ...(name === served.name ? [] : ['name']),
      ...(locked === isLocked(served) ? [] : ['locked']),
    ];
    const { keys } = this.#options;
    const key = keys.find(({ id: keyId }) => keyId === compared.keyId);
    if (!key) {
      return { changed, isOutdated: true };
    }
    const old: Readonly<Record<string, string>> = JSON.parse(compared.digests);
    const digests = digestsOf(served, { entryId: id, fields, key });
    changed.push(
      ...fields.filter(field => field in old && digests[field] !== old[field]),
    );
    const isOutdated =
      key !== keys[0] || fields.join() !== Object.keys(old).join();
    return { changed, isOutdated };
  }

  #record(entry: Recorded, comparison: Comparison): void {
    const { id, kind, key, uniqueId, name, locked, compared } = entry;
    this.#set(entry);
    if (compared.by === 'values') {
      const [digestKey] = this.#options.keys;
      const digests = digestsOf(compared.values, {
        entryId: id,
        fields: this.#options.fields[kind],
        key: digestKey,
      });
      comparison.entries.set(id, {
        id,
        kind,
        key,
        uniqueId,
        name,
        locked,
        digests: JSON.stringify(digests),
        keyId: digestKey.id,
      });
    }
  }

  /** Whether the tables contain the entry at its recorded key. */
  #isKept(recorded: Recorded): boolean {
    const present = this.#find(recorded.key);
    return present !== undefined && haveSameId(recorded, present.served);
  }

  #find(
    key: string,
  ):
    | { readonly kind: 'user'; readonly served: ServedRecord<User> }
    | { readonly kind: 'group'; readonly served: ServedRecord<Group> }
    | undefined {
    const { users, groups } = this.#options.tables;
    const user = users.served.get(key);
    if (user) {
      return { kind: 'user', served: user };
    }
    const group = groups.served.get(key);
    return group && { kind: 'group', served: group };
  }

  #set(entry: Recorded): void {
    this.#byKey.set(entry.key, entry);
    this.#byId.set(entry.id, entry);
    if (entry.uniqueId !== undefined) {
      this.#keysByUniqueId.set(entry.uniqueId, entry.key);
    }
  }

  #remove({ key, id, uniqueId }: Recorded): void {
    this.#byKey.delete(key);
    this.#byId.delete(id);
    if (uniqueId !== undefined) {
      this.#keysByUniqueId.delete(uniqueId);
    }
  }
}

function recordedOf(
  served: Served,
  known: Pick<Recorded, 'id' | 'kind' | 'members'> & {
    readonly uniqueId?: string;
  },
): Recorded {
  const { record, searchOnly } = served;
  return {
    id: known.id,
    kind: known.kind,
    members: known.members,
    key: served.key,
    uniqueId: served.uniqueId ?? known.uniqueId,
    name: served.name,
    locked: isLocked(served),
    compared: {
      by: 'values',
      // Without the row, which would keep its block in memory.
      values: { record, searchOnly } as RecordedValues,
    },
  };
}

function isLocked({ record }: Served): boolean {
  return 'locked' in record && record.locked === true;
}

/** Whether two entries with one key may be the same. */
function haveSameId(
  recorded: Recorded | undefined,
  served: Served | undefined,
): boolean {
  return (
    recorded?.uniqueId === undefined ||
    served?.uniqueId === undefined ||
    recorded.uniqueId === served.uniqueId
  );
}

function sorted(ids: readonly number[]): Uint32Array {
  return Uint32Array.from(ids).sort();
}

/** Returns the IDs of an ascending list that another list lacks. */
function missing(ids: Uint32Array, others: Uint32Array): readonly number[] {
  const found: number[] = [];
  let at = 0;
  for (const id of ids) {
    while (others[at] < id) {
      at++;
    }
    if (others[at] !== id) {
      found.push(id);
    }
  }
  return found;
}
