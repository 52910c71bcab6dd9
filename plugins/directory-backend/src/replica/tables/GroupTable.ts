import { isDeepStrictEqual } from 'node:util';
import type { Group } from '../../directory/records';
import { type GroupLinks, MembershipGraph } from './MembershipGraph';
import type { GroupEntry, GroupNames } from '../sync/ReplicaSource';
import { type ServedRecord, ServedRecords } from './ServedRecords';

/** Who names an entry: links the other way round, kept as they change. */
export class LinkIndex {
  readonly #sources = new Map<string, string[]>();

  /** Those that name an entry, in order. */
  of(target: string): readonly string[] {
    return this.#sources.get(target) ?? [];
  }

  /**
   * A source names others than before.
   *
   * @returns whether that is so
   */
  replace(
    source: string,
    old: readonly string[],
    now: readonly string[],
  ): boolean {
    // Of a large group one name changes at a time, and no name is twice in one.
    const { start, oldEnd, nowEnd } = differingPart(old, now);
    const before = new Set(old.slice(start, oldEnd));
    const after = new Set(now.slice(start, nowEnd));
    const gone = [...before].filter(target => !after.has(target));
    const added = [...after].filter(target => !before.has(target));
    for (const target of gone) {
      this.#remove(target, source);
    }
    for (const target of added) {
      this.#add(target, source);
    }
    return gone.length + added.length > 0;
  }

  #add(target: string, source: string): void {
    const sources = this.#sources.get(target);
    if (!sources) {
      this.#sources.set(target, [source]);
      return;
    }
    const after = sources.findIndex(other => other > source);
    sources.splice(after === -1 ? sources.length : after, 0, source);
  }

  #remove(target: string, source: string): void {
    const others = this.of(target).filter(other => other !== source);
    if (others.length > 0) {
      this.#sources.set(target, others);
    } else {
      this.#sources.delete(target);
    }
  }
}

const NO_MEMBERS: GroupNames = { members: [], sponsors: [] };

/** All groups, and who is in them. */
export class GroupTable implements GroupLinks {
  readonly #served = new ServedRecords<Group>();
  readonly #names = new Map<string, GroupNames>();
  readonly #naming = new LinkIndex();
  readonly #managing = new LinkIndex();
  readonly #changes = new Map<string, number>();
  #version = 0;
  /** Walks the links as they are at the time. */
  readonly graph = new MembershipGraph(this);

  /** Moves when a group comes or goes, or names others than before. */
  get version(): number {
    return this.#version;
  }

  /** The version at which who is in a group was last changed. */
  changeOf(group: string): number {
    return this.#changes.get(group) ?? 0;
  }

  /** Those that are served, to be read. */
  get served(): Omit<ServedRecords<Group>, 'set' | 'delete'> {
    return this.#served;
  }

  /** Served or not. */
  get size(): number {
    return this.#names.size;
  }

  keys(): Iterable<string> {
    return this.#names.keys();
  }

  get(key: string): GroupNames | undefined {
    return this.#names.get(key);
  }

  groupsNaming(entry: string): readonly string[] {
    return this.#naming.of(entry);
  }

  groupsManagedBy(entry: string): readonly string[] {
    return this.#managing.of(entry);
  }

  set(key: string, entry: GroupEntry): void {
    const { group, members, sponsors } = entry;
    const old = this.#names.get(key) ?? NO_MEMBERS;
    const isNew = !this.#names.has(key);
    const named = this.#naming.replace(key, old.members, members);
    const managed = this.#managing.replace(key, old.sponsors, sponsors);
    this.#names.set(key, { members, sponsors });
    const wasServed = this.#served.get(key) !== undefined;
    if (group) {
      this.#served.set(rowOf(key, entry, group));
    } else {
      this.#served.delete(key);
    }
    if (isNew || named || managed || wasServed !== (group !== undefined)) {
      this.#changed(key);
    }
  }

  /** Whether an entry is not what is kept of it. */
  differs(key: string, entry: GroupEntry | undefined): boolean {
    const old = this.#names.get(key);
    if (!entry || !old) {
      return entry !== old;
    }
    const isServed = this.#served.get(key) !== undefined;
    const isOther = entry.group
      ? this.#served.changesBy(rowOf(key, entry, entry.group)).length > 0
      : isServed;
    return (
      isOther ||
      !areSameNames(entry.members, old.members) ||
      !areSameNames(entry.sponsors, old.sponsors)
    );
  }

  delete(key: string): void {
    const old = this.#names.get(key);
    if (old) {
      this.#naming.replace(key, old.members, []);
      this.#managing.replace(key, old.sponsors, []);
      this.#names.delete(key);
      this.#served.delete(key);
      this.#changed(key);
    }
  }

  #changed(key: string): void {
    this.#version++;
    for (const group of [key, ...this.graph.groupsOf(key)]) {
      this.#changes.set(group, this.#version);
    }
  }
}

/** Whether two lists have the same names, in any order. */
function areSameNames(a: readonly string[], b: readonly string[]): boolean {
  // Sets of 89,000 names would block the event loop; most lists are equal.
  const isEqual =
    a.length === b.length && a.every((name, index) => name === b[index]);
  return isEqual || isDeepStrictEqual(new Set(a), new Set(b));
}

function rowOf(
  key: string,
  { searchOnly }: GroupEntry,
  group: Group & { readonly groupname: string },
): ServedRecord<Group> {
  return { key, name: group.groupname, record: group, searchOnly };
}

/** Where two lists begin to differ, and where each ends to. */
function differingPart(old: readonly string[], now: readonly string[]) {
  let start = 0;
  while (start < old.length && old[start] === now[start]) {
    start++;
  }
  let oldEnd = old.length;
  let nowEnd = now.length;
  while (
    oldEnd > start &&
    nowEnd > start &&
    old[oldEnd - 1] === now[nowEnd - 1]
  ) {
    oldEnd--;
    nowEnd--;
  }
  return { start, oldEnd, nowEnd };
}
