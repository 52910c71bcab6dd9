import {
  type AgreementEntry,
  type EntryRef,
  type GroupEntry,
  type ReadEntry,
  type ReplicaBatch,
  replicaKinds,
} from '../tables/entries';
import type { ReplicaTables } from '../tables/ReplicaTables';
import type { ReplicaSource } from './ReplicaSource';

/**
 * Maximum number of entries that are read again because they lost a reference.
 * If there are more, a comparison of stable IDs finds the deleted ones.
 */
const MAX_LOST_REFERENCES = 500;

/** Maximum number of times that an entry is read again. */
const MAX_ROUNDS = 10;

interface Read {
  readonly ref: EntryRef;
  readonly read: ReadEntry;
}

/** An entry that may have been deleted or renamed. */
interface LostEntry {
  readonly ref: EntryRef;
  /** The group or agreement that no longer refers to it. */
  readonly group?: EntryRef;
  /** Identifies the group, its list of links and the entry. */
  readonly link: string;
  /** Key as of the last read. */
  readonly key: string;
  /** Whether the group may name another key of the entry. */
  readonly rereadGroup: boolean;
}

/** A list of links that was read. */
interface LinkList {
  readonly group: EntryRef;
  /** Index of the list. */
  readonly list: number;
  readonly now: ReadonlySet<string>;
}

/** The entries of a poll, each as of its last read. */
export interface CheckedEntries {
  readonly batches: readonly ReplicaBatch[];
  /** Entries that could not be read again. */
  readonly missing: readonly EntryRef[];
  /**
   * Whether too many entries lost a reference to read them again: the stable
   * IDs must be compared before the entries are written.
   */
  readonly hasLostMany?: boolean;
}

/**
 * Reads entries again that others no longer refer to: members and sponsors that
 * left a group and signers that left an agreement without being written, and
 * groups that a user is no longer in.
 *
 * They may have been deleted: a deleted user loses all memberships, also when
 * the account cannot see the deletion itself (`ipa user-del --preserve`). Or
 * they were renamed after they and before the group was read; then both are
 * read again until the group names the last key.
 */
export class ReferenceCheck {
  readonly #source: Pick<ReplicaSource, 'readEntries'>;
  readonly #tables: ReplicaTables;
  /** Entries by `kind id`. */
  readonly #latest = new Map<string, Read>();
  readonly #missing = new Map<string, EntryRef>();
  /** Last key of lost entries, by group and entry. */
  readonly #keys = new Map<string, string>();
  /** Key with which a lost entry is known not to be in a group, by both. */
  readonly #confirmed = new Map<string, string>();

  constructor(options: {
    readonly source: Pick<ReplicaSource, 'readEntries'>;
    readonly tables: ReplicaTables;
  }) {
    this.#source = options.source;
    this.#tables = options.tables;
  }

  /** Records entries that were read. Users must be read before groups. */
  record({ kind, entries }: ReplicaBatch): void {
    for (const read of entries) {
      const ref = { kind, id: read.id };
      this.#latest.set(textOf(ref), { ref, read });
      this.#missing.delete(textOf(ref));
    }
  }

  /**
   * Reads these and all lost entries again.
   *
   * @throws Error when entries are renamed faster than they are read.
   */
  async complete(
    server: string,
    refs: readonly EntryRef[],
  ): Promise<CheckedEntries> {
    let lost = this.#lost();
    if (lost.length > MAX_LOST_REFERENCES) {
      if (refs.length > 0) {
        await this.#read(server, refs);
      }
      return { ...this.#result(), hasLostMany: true };
    }
    let unread = [...refs, ...lost.flatMap(refsOf)];
    for (let round = 0; round <= MAX_ROUNDS; round++) {
      if (unread.length === 0) {
        return this.#result();
      }
      await this.#read(server, unread);
      this.#confirm(lost, round === MAX_ROUNDS - 1);
      lost = this.#lost();
      unread = lost.flatMap(refsOf);
    }
    throw new Error('Entries are renamed faster than they are read');
  }

  #result(): CheckedEntries {
    return {
      batches: replicaKinds.map(kind => {
        const entries = [...this.#latest.values()].flatMap(({ ref, read }) =>
          ref.kind === kind ? read : [],
        );
        return { kind, entries } as ReplicaBatch;
      }),
      missing: [...this.#missing.values()],
    };
  }

  async #read(server: string, refs: readonly EntryRef[]): Promise<void> {
    const unique = new Map(refs.map(ref => [textOf(ref), ref]));
    const found = await this.#source.readEntries(
      server,
      [...unique.values()],
      batch => this.record(batch),
    );
    for (const [text, ref] of unique) {
      if (!found[ref.kind].has(ref.id)) {
        this.#latest.delete(text);
        this.#missing.set(text, ref);
      }
    }
  }

  /**
   * An entry that had the same key before and after the group was read is not
   * in the group, unless the group names a key that no entry has yet: a server
   * may show a renamed member after the group. It may also be the key of an
   * entry that is not replicated, which counts as the last resort.
   */
  #confirm(lost: readonly LostEntry[], isLast: boolean): void {
    const reread = new Set(
      lost.map(({ group, rereadGroup }) => rereadGroup && group?.id),
    );
    for (const { ref, group, link, key } of lost) {
      const isSame = this.#latest.get(textOf(ref))?.read.key === key;
      const isRead = group && isSame && !reread.has(group.id);
      if (isRead && (isLast || !this.#namesUnknown(group))) {
        this.#confirmed.set(link, key);
      }
    }
  }

  #lost(): readonly LostEntry[] {
    return [...this.#latest.values()].flatMap(each =>
      each.ref.kind === 'users'
        ? this.#lostGroups(each.read)
        : this.#lostLinks(each),
    );
  }

  /** Whether a group that was read has got a link to no known entry. */
  #namesUnknown(group: EntryRef): boolean {
    const { entry } = this.#latest.get(textOf(group))!.read;
    const before = new Set(this.#linksBefore(group).flat());
    const added = linksOf(entry)
      .flat()
      .filter(key => !before.has(key));
    const read = new Set([...this.#latest.values()].map(each => each.read.key));
    return added.some(
      key =>
        !read.has(key) &&
        !this.#refOf(key) &&
        this.#tables.aliasOf(key) === undefined,
    );
  }

  /** Returns the keys to which a group or an agreement refers in the tables. */
  #linksBefore({ kind, id }: EntryRef): readonly (readonly string[])[] {
    const { groups, agreements } = this.#tables;
    return linksOf(
      kind === 'groups'
        ? groups.graph.get(groups.keyOf(id) ?? '')
        : agreements.get(id),
    );
  }

  #lostLinks({ ref: group, read }: Read): readonly LostEntry[] {
    const before = this.#linksBefore(group);
    // A server may change the lists of an entry one after another.
    return linksOf(read.entry).flatMap((links, list) => {
      const now = new Set(links);
      return before[list]
        .filter(key => !now.has(key))
        .flatMap(key => this.#lostLink(key, { group, list, now }));
    });
  }

  #lostLink(
    member: string,
    { group, list, now }: LinkList,
  ): readonly LostEntry[] {
    const ref = this.#refOf(member);
    const last = ref && this.#latest.get(textOf(ref));
    const key = last?.read.key ?? member;
    const link = ref && `${textOf(group)} ${list} ${textOf(ref)}`;
    const isConsistent =
      !link ||
      now.has(key) ||
      this.#missing.has(textOf(ref)) ||
      this.#confirmed.get(link) === key;
    if (isConsistent) {
      return [];
    }
    const rereadGroup = key !== (this.#keys.get(link) ?? member);
    this.#keys.set(link, key);
    return [{ ref, group, link, key, rereadGroup }];
  }

  #lostGroups({ id, memberOf }: ReadEntry): readonly LostEntry[] {
    const { groups, users } = this.#tables;
    const before = groups.graph.directGroupsOf(users.keyOf(id) ?? '');
    return before.flatMap(key => {
      const groupId = groups.idOf(key);
      if (!memberOf || memberOf.has(key) || groupId === undefined) {
        return [];
      }
      const ref = { kind: 'groups', id: groupId } as const;
      const isRead =
        this.#latest.has(textOf(ref)) || this.#missing.has(textOf(ref));
      return isRead ? [] : { ref, link: '', key, rereadGroup: false };
    });
  }

  #refOf(key: string): EntryRef | undefined {
    const { groups, users } = this.#tables;
    const user = users.idOf(key);
    const group = groups.idOf(key);
    if (user !== undefined) {
      return { kind: 'users', id: user };
    }
    return group === undefined ? undefined : { kind: 'groups', id: group };
  }
}

/** Returns the members, sponsors and signers of a group or an agreement. */
function linksOf(entry: unknown): readonly (readonly string[])[] {
  const { members, sponsors, signers } = (entry ?? {}) as Partial<
    GroupEntry & AgreementEntry
  >;
  return [members, sponsors, signers].map(keys => [...(keys ?? [])]);
}

/** A group is read again if it names an unknown key of a renamed entry. */
function refsOf({ ref, group, rereadGroup }: LostEntry): readonly EntryRef[] {
  return group && rereadGroup ? [ref, group] : [ref];
}

function textOf({ kind, id }: EntryRef): string {
  return `${kind} ${id}`;
}
