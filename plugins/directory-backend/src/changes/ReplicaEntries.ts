import type { ReplicaTables } from '../replica/tables/ReplicaTables';
import type { EntrySource } from './KnownEntries';

/** The users and groups of the replica by stable ID. */
export class ReplicaEntries implements EntrySource {
  readonly #tables: ReplicaTables;

  constructor(tables: ReplicaTables) {
    this.#tables = tables;
  }

  *ids(): Iterable<string> {
    yield* this.#tables.users.ids();
    yield* this.#tables.groups.ids();
  }

  find(id: string): ReturnType<EntrySource['find']> {
    const { users, groups } = this.#tables;
    const user = users.served.get(users.keyOf(id) ?? '');
    if (user) {
      return { kind: 'user', served: user };
    }
    const group = groups.keyOf(id);
    return group === undefined
      ? undefined
      : { kind: 'group', served: groups.served.get(group) };
  }

  groupsOf(id: string): readonly string[] {
    const { graph } = this.#tables.groups;
    return graph.directGroupsOf(this.#keyOf(id)).map(key => this.idOf(key));
  }

  membersOf(id: string): readonly string[] {
    const { graph } = this.#tables.groups;
    return graph.directMembersOf(this.#keyOf(id));
  }

  /** Returns the stable ID of an entry; the key of an entry that is missing. */
  idOf(key: string): string {
    const { users, groups } = this.#tables;
    return users.idOf(key) ?? groups.idOf(key) ?? key;
  }

  #keyOf(id: string): string {
    const { users, groups } = this.#tables;
    return users.keyOf(id) ?? groups.keyOf(id) ?? id;
  }
}
