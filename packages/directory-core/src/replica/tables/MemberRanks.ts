import { LRUCache } from 'lru-cache';
import type { MembershipKind } from '../../directory/Directory';
import type { ReplicaTables } from './ReplicaTables';
import { inAll, ranksThat } from './rankSets';

/** Size of the cache; sufficient for the lists of all groups in use. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Size of an empty list. */
const OVERHEAD_BYTES = 200;

interface CachedRanks {
  readonly version: string;
  readonly ranks: Uint32Array;
}

/**
 * Members of groups, as ranks of users. A list is cached until ranks change or
 * one of its groups changes.
 */
export class MemberRanks {
  readonly #tables: Pick<ReplicaTables, 'users' | 'groups'>;
  readonly #lists = new LRUCache<string, CachedRanks>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ ranks }) => ranks.byteLength + OVERHEAD_BYTES,
  });

  constructor(tables: Pick<ReplicaTables, 'users' | 'groups'>) {
    this.#tables = tables;
  }

  /** Returns the served users in a group, including locked ones. */
  all(group: string): Uint32Array {
    const { users, groups } = this.#tables;
    const version = `${users.served.rankVersion} ${groups.changeOf(group)}`;
    return this.#cached(`all ${group}`, version, () =>
      users.served.ranksOf(groups.graph.membersWithin([group])),
    );
  }

  /** Returns the served, unlocked users in a group. */
  unlocked(
    group: string,
    kind?: Exclude<MembershipKind, 'locked'>,
  ): Uint32Array {
    const { users, groups } = this.#tables;
    const version = `${users.version} ${groups.changeOf(group)}`;
    return this.#cached(`${kind ?? 'unlocked'} ${group}`, version, () => {
      if (!kind) {
        return inAll([this.all(group), this.allUnlocked()]);
      }
      const direct = new Set(
        users.served.ranksOf(groups.graph.directMembersOf(group)),
      );
      return ranksThat(
        this.unlocked(group),
        rank => direct.has(rank) === (kind === 'direct'),
      );
    });
  }

  /** Returns the served, locked users in a group. */
  locked(group: string): Uint32Array {
    const { users, groups } = this.#tables;
    const version = `${users.version} ${groups.changeOf(group)}`;
    return this.#cached(`locked ${group}`, version, () => {
      const unlocked = new Set(this.unlocked(group));
      return ranksThat(this.all(group), rank => !unlocked.has(rank));
    });
  }

  /** Returns all served, unlocked users. */
  allUnlocked(): Uint32Array {
    const { users } = this.#tables;
    return this.#cached('unlocked', users.version, () =>
      users.unlockedAmong(users.served.allRanks),
    );
  }

  /** Returns the served users in at least one served group. */
  ofAnyGroup(): Uint32Array {
    const { users, groups } = this.#tables;
    const version = `${users.served.rankVersion} ${groups.version}`;
    return this.#cached('any', version, () => {
      const keys = groups.served.inOrder.map(({ key }) => key);
      return users.served.ranksOf(groups.graph.membersWithin(keys));
    });
  }

  #cached(
    name: string,
    version: string,
    create: () => Uint32Array,
  ): Uint32Array {
    const cached = this.#lists.get(name);
    if (cached?.version === version) {
      return cached.ranks;
    }
    const ranks = create();
    this.#lists.set(name, { version, ranks });
    return ranks;
  }
}
