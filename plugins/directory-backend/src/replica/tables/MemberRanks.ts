import { LRUCache } from 'lru-cache';
import type { MembershipKind } from '../../directory/Directory';
import type { GroupTable } from './GroupTable';
import { inAll, ranksThat } from './rankSets';
import type { UserTable } from './UserTable';

/** Bytes of lists kept at most, those used last: all that a site looks at. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Of a list, however short. */
const OVERHEAD_BYTES = 200;

interface CachedRanks {
  readonly version: string;
  readonly ranks: Uint32Array;
}

/**
 * Who is in which group, as ranks of users. A list is kept until a user comes
 * or goes, or a group changes that the list is made of.
 */
export class Members {
  readonly #users: UserTable;
  readonly #groups: GroupTable;
  readonly #lists = new LRUCache<string, CachedRanks>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ ranks }) => ranks.byteLength + OVERHEAD_BYTES,
  });

  constructor(tables: {
    readonly users: UserTable;
    readonly groups: GroupTable;
  }) {
    this.#users = tables.users;
    this.#groups = tables.groups;
  }

  /** Served users in a group, those whose account is locked, too. */
  all(group: string): Uint32Array {
    const { served } = this.#users;
    const version = `${served.rankVersion} ${this.#groups.changeOf(group)}`;
    return this.#kept(`all ${group}`, version, () =>
      served.ranksOf(this.#groups.graph.membersWithin([group])),
    );
  }

  /** Served users in a group in this way whose account is not locked. */
  unlocked(group: string, kind?: MembershipKind): Uint32Array {
    const version = `${this.#users.version} ${this.#groups.changeOf(group)}`;
    return this.#kept(`${kind ?? 'unlocked'} ${group}`, version, () =>
      kind
        ? this.#ofKind(group, kind)
        : inAll([this.all(group), this.allUnlocked()]),
    );
  }

  /** All served users whose account is not locked. */
  allUnlocked(): Uint32Array {
    return this.#kept('everyone', this.#users.version, () =>
      this.#users.served.ranksWithout('locked'),
    );
  }

  /** Served users in any served group. */
  ofAnyGroup(): Uint32Array {
    const { served } = this.#users;
    const version = `${served.rankVersion} ${this.#groups.version}`;
    return this.#kept('any', version, () => {
      const groups = this.#groups.served.inOrder.map(({ key }) => key);
      return served.ranksOf(this.#groups.graph.membersWithin(groups));
    });
  }

  #ofKind(group: string, kind: MembershipKind): Uint32Array {
    const { graph } = this.#groups;
    const direct = new Set(
      this.#users.served.ranksOf(graph.directMembersOf(group)),
    );
    return ranksThat(
      this.unlocked(group),
      rank => direct.has(rank) === (kind === 'direct'),
    );
  }

  #kept(name: string, version: string, make: () => Uint32Array): Uint32Array {
    const kept = this.#lists.get(name);
    if (kept?.version === version) {
      return kept.ranks;
    }
    const ranks = make();
    this.#lists.set(name, { version, ranks });
    return ranks;
  }
}
