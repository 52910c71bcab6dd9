import type { MemberSelection } from '../directory/Directory';
import type { GroupTable } from './GroupTable';
import type { UserTable } from './UserTable';

/** More lists than groups that anybody looks at in the same minute. */
const LISTS = 2000;

/** How somebody is in a group; `undefined` is either way. */
type Kind = MemberSelection['membership'];

/**
 * Who is in which group, as ranks of users. A list is kept until a user or a
 * group changes in a way that could change it.
 */
export class Members {
  readonly #users: UserTable;
  readonly #groups: GroupTable;
  readonly #lists = new Map<string, Uint32Array>();
  #version = '';

  constructor(tables: {
    readonly users: UserTable;
    readonly groups: GroupTable;
  }) {
    this.#users = tables.users;
    this.#groups = tables.groups;
  }

  /** Served users in a group, those whose account is locked, too. */
  all(group: string): Uint32Array {
    return this.#kept(`all ${group}`, () =>
      this.#users.served.ranksOf(this.#groups.graph.membersOf(group)),
    );
  }

  /** Served users in a group in this way whose account is not locked. */
  unlocked(group: string, kind?: Kind): Uint32Array {
    return this.#kept(`${kind ?? 'unlocked'} ${group}`, () =>
      kind
        ? this.#ofKind(group, kind)
        : this.#users.unlockedAmong(this.all(group)),
    );
  }

  /** All served users whose account is not locked. */
  everyoneUnlocked(): Uint32Array {
    return this.#kept('everyone', () =>
      this.#users.served.ranksWhere(({ locked }) => !locked),
    );
  }

  /** Served users in any served group. */
  ofAny(): Uint32Array {
    return this.#kept('any', () => {
      const served = [...this.#groups.served.inOrder];
      const found = new Set<string>();
      for (const { key } of served) {
        for (const member of this.#groups.graph.membersOf(key)) {
          found.add(member);
        }
      }
      return this.#users.served.ranksOf(found);
    });
  }

  #ofKind(group: string, kind: NonNullable<Kind>): Uint32Array {
    const { graph } = this.#groups;
    const direct = new Set(
      this.#users.served.ranksOf(graph.directMembersOf(group)),
    );
    return this.unlocked(group).filter(
      rank => direct.has(rank) === (kind === 'direct'),
    );
  }

  #kept(name: string, make: () => Uint32Array): Uint32Array {
    const version = `${this.#users.version} ${this.#groups.version}`;
    if (version !== this.#version || this.#lists.size >= LISTS) {
      this.#lists.clear();
      this.#version = version;
    }
    let list = this.#lists.get(name);
    if (!list) {
      list = make();
      this.#lists.set(name, list);
    }
    return list;
  }
}
