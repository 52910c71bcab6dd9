import type { Entity } from '@backstage/catalog-model';
import type { ReadGroup } from './DirectoryReader';
import {
  type DirectoryGroup,
  type DirectoryTransforms,
  type DirectoryUser,
  type EntityOptions,
  type EntryKey,
  groupEntity,
  located,
  userEntity,
} from './entities';

/**
 * The groups in the directory and who is in them: what the entity of a user or
 * group depends on besides the entry. Everything else is read when an entity is
 * built, which limits memory use with large directories.
 */
export class Organization {
  readonly #options: EntityOptions;
  readonly #transforms: DirectoryTransforms;
  readonly #groups = new Map<string, DirectoryGroup>();
  /** Names of the groups of which each user was read as a direct member. */
  readonly #groupsOf = new Map<string, readonly string[]>();

  constructor(
    options: EntityOptions & { readonly transforms: DirectoryTransforms },
  ) {
    this.#options = options;
    this.#transforms = options.transforms;
  }

  /**
   * Returns the users whose entities may change when a group is set. They must
   * be set afterwards.
   *
   * The change log names effective members, entities the groups of which a user
   * is a direct member. Of a group of which only direct memberships changed, the
   * log names only the group.
   */
  affectedUsers(name: string, read: ReadGroup | undefined): readonly string[] {
    const before = new Set<string>();
    if (this.#isRelated(this.#groups.get(name))) {
      for (const [username, groups] of this.#groupsOf) {
        if (groups.includes(name)) {
          before.add(username);
        }
      }
    }
    const after = new Set(this.#isRelated(read?.group) ? read?.members : []);
    return [
      ...[...before].filter(username => !after.has(username)),
      ...[...after].filter(username => !before.has(username)),
    ];
  }

  /**
   * Returns these users and groups, and the groups that contain such a group.
   * The log does not name those when a group is renamed, or deleted and replaced.
   */
  withParents(keys: Iterable<EntryKey>): ReadonlySet<EntryKey> {
    const changed = new Set(keys);
    const parents = [...this.#groups.values()].filter(({ memberGroups }) =>
      memberGroups.some(name => changed.has(`group:${name}`)),
    );
    return new Set([
      ...changed,
      ...parents.map(({ groupname }): EntryKey => `group:${groupname}`),
    ]);
  }

  /** Sets or removes a group. */
  setGroup(name: string, group: DirectoryGroup | undefined): void {
    if (group) {
      this.#groups.set(name, group);
    } else {
      this.#groups.delete(name);
    }
  }

  /** Sets or removes a user. Returns the entity, if there is one. */
  async setUser(
    name: string,
    user: DirectoryUser | undefined,
  ): Promise<Entity | undefined> {
    if (!user) {
      this.#groupsOf.delete(name);
      return undefined;
    }
    this.#groupsOf.set(name, user.groups);
    const { filterUser, transformUser } = this.#transforms;
    const related = {
      ...user,
      groups: user.groups.filter(group => !this.#groups.get(group)?.isLarge),
    };
    if (filterUser?.(related) === false) {
      return undefined;
    }
    const groups = related.groups.filter(group =>
      this.#isAccepted(this.#groups.get(group)),
    );
    const entity = userEntity({ ...related, groups }, this.#options);
    return located((await transformUser?.(entity, related)) ?? entity);
  }

  /** Returns the entity of a group, if there is one. */
  async groupEntity(name: string): Promise<Entity | undefined> {
    const group = this.#groups.get(name);
    if (!group || !this.#isAccepted(group)) {
      return undefined;
    }
    const children = group.memberGroups.filter(child =>
      this.#isAccepted(this.#groups.get(child)),
    );
    const entity = groupEntity(group, { ...this.#options, children });
    const { transformGroup } = this.#transforms;
    return located((await transformGroup?.(entity, group)) ?? entity);
  }

  /** Whether the entities of the members of a group name it. */
  #isRelated(group: DirectoryGroup | undefined): boolean {
    return this.#isAccepted(group) && !group!.isLarge;
  }

  /** Whether a group has an entity. */
  #isAccepted(group: DirectoryGroup | undefined): boolean {
    return (
      group !== undefined && this.#transforms.filterGroup?.(group) !== false
    );
  }
}
