import type { Group } from '../../directory/records';
import type { GroupEntry } from './entries';
import { difference, MembershipGraph } from './MembershipGraph';
import type { ServedRecord } from './RowBlock';
import { type ReadableRecords, ServedRecords } from './ServedRecords';

/** All groups: the records of served groups and the links of all groups. */
export class GroupTable {
  readonly graph = new MembershipGraph();
  readonly #served = new ServedRecords<Group>();
  readonly #changes = new Map<string, number>();
  readonly #keys = new Map<string, string>();
  #version = 0;

  /**
   * Version that changes when a group is added or deleted or its links change.
   */
  get version(): number {
    return this.#version;
  }

  /** Version at the last change to a group's direct or nested members. */
  changeOf(group: string): number {
    return this.#changes.get(group) ?? 0;
  }

  get served(): ReadableRecords<Group> {
    return this.#served;
  }

  /** Number of groups, served or not. */
  get size(): number {
    return this.graph.size;
  }

  ids(): Iterable<string> {
    return this.#keys.keys();
  }

  /** Returns the key of the group with a stable ID. */
  keyOf(id: string): string | undefined {
    return this.#keys.get(id);
  }

  /** Returns the stable ID of the group with a key. */
  idOf(key: string): string | undefined {
    const links = this.graph.get(key);
    return links && (links.uniqueId ?? key);
  }

  set(key: string, entry: GroupEntry): void {
    const { group, members, sponsors, uniqueId } = entry;
    this.#keys.set(uniqueId ?? key, key);
    const wasServed = this.#served.get(key) !== undefined;
    const hasNewLinks = this.graph.set(key, {
      members,
      sponsors,
      uniqueId,
    });
    if (group) {
      this.#served.set(rowOf(key, entry, group));
    } else {
      this.#served.delete(key);
    }
    if (hasNewLinks || wasServed !== (group !== undefined)) {
      this.#recordChange(key);
    }
  }

  /** Whether an entry differs from the one in the table. */
  differs(key: string, entry: GroupEntry | undefined): boolean {
    const links = this.graph.get(key);
    if (!entry || !links) {
      return entry !== links;
    }
    const hasChanged = entry.group
      ? this.#served.differs(rowOf(key, entry, entry.group))
      : this.#served.get(key) !== undefined;
    return (
      hasChanged ||
      !haveSameItems(entry.members, links.members) ||
      !haveSameItems(entry.sponsors, links.sponsors)
    );
  }

  delete(key: string): void {
    this.#keys.delete(this.idOf(key) ?? key);
    if (this.graph.delete(key)) {
      this.#served.delete(key);
      this.#recordChange(key);
    }
  }

  /** Changes the key of a group, but not in the links of other groups. */
  rename(from: string, to: string): void {
    const links = this.graph.get(from);
    const row = this.#served.get(from);
    if (links) {
      this.delete(from);
      this.set(to, {
        ...links,
        group: row?.record,
        searchOnly: row?.searchOnly,
        uniqueId: links.uniqueId ?? from,
      });
    }
  }

  /**
   * Changes a key in the links of all groups.
   *
   * @returns the keys of the groups whose links have changed
   */
  replaceLinks(from: string, to: string): readonly string[] {
    const groups = this.graph.replaceLinks(from, to);
    for (const group of groups) {
      this.#recordChange(group);
    }
    return groups;
  }

  #recordChange(key: string): void {
    this.#version++;
    for (const group of [key, ...this.graph.groupsOf(key)]) {
      this.#changes.set(group, this.#version);
    }
  }
}

/** Compares lists regardless of order. */
function haveSameItems(a: readonly string[], b: readonly string[]): boolean {
  const { removed, added } = difference(a, b);
  return removed.size + added.size === 0;
}

function rowOf(
  key: string,
  { searchOnly, uniqueId }: GroupEntry,
  group: Group,
): ServedRecord<Group> {
  return { key, name: group.groupname, record: group, searchOnly, uniqueId };
}
