import type { ReplicaTables } from '../replica/tables/ReplicaTables';
import type { EntrySource } from './KnownEntries';

/**
 * The entries of the replica by stable ID. Entries whose ID cannot be read are
 * identified by their key.
 */
export class ReplicaEntries implements EntrySource {
  readonly #tables: ReplicaTables;
  /** IDs and keys of entries whose ID is not their key. */
  readonly #idByKey = new Map<string, string>();
  readonly #keyById = new Map<string, string>();

  constructor(tables: ReplicaTables) {
    this.#tables = tables;
  }

  *keys(): Iterable<string> {
    yield* this.#tables.users.keys();
    yield* this.#tables.groups.keys();
  }

  /**
   * Updates the ID of a written entry, or reads it before the first use. Returns
   * the old and the new ID.
   */
  update(key: string): readonly string[] {
    const { users, groups } = this.#tables;
    const oldId = this.idOf(key);
    const served = users.served.get(key) ?? groups.served.get(key);
    // An ID that has become unreadable is still the entry's.
    const id = served ? (served.uniqueId ?? oldId) : key;
    if (id !== oldId && this.#keyById.get(oldId) === key) {
      this.#keyById.delete(oldId);
    }
    if (id === key) {
      this.#idByKey.delete(key);
    } else {
      this.#idByKey.set(key, id);
      this.#keyById.set(id, key);
    }
    return [oldId, id];
  }

  *ids(): Iterable<string> {
    for (const key of this.keys()) {
      yield this.idOf(key);
    }
  }

  find(id: string): ReturnType<EntrySource['find']> {
    const { users, groups } = this.#tables;
    const key = this.#keyOf(id);
    if (this.idOf(key) !== id) {
      return undefined;
    }
    const user = users.served.get(key);
    if (user) {
      return { kind: 'user', served: user };
    }
    return groups.graph.get(key)
      ? { kind: 'group', served: groups.served.get(key) }
      : undefined;
  }

  groupsOf(id: string): readonly string[] {
    const { graph } = this.#tables.groups;
    return graph.directGroupsOf(this.#keyOf(id)).map(key => this.idOf(key));
  }

  membersOf(id: string): readonly string[] {
    const { graph } = this.#tables.groups;
    return graph.directMembersOf(this.#keyOf(id));
  }

  idOf(key: string): string {
    return this.#idByKey.get(key) ?? key;
  }

  #keyOf(id: string): string {
    return this.#keyById.get(id) ?? id;
  }
}
