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
  /** Groups with an entity. */
  readonly #groups = new Map<string, DirectoryGroup>();
  /** Names of groups with too many members for relations. */
  readonly #largeGroups = new Set<string>();
  /** Names of the groups of which each user was read as a direct member. */
  readonly #groupsOf = new Map<string, readonly string[]>();
  #nesting = nest(new Map());

  constructor(
    options: EntityOptions & { readonly transforms: DirectoryTransforms },
  ) {
    this.#options = options;
    this.#transforms = options.transforms;
  }

  /** Memberships that are left out because groups contain each other. */
  get cycles(): readonly string[] {
    return this.#nesting.cut;
  }

  /**
   * Returns the users whose entities may change when a group is set. They must
   * be set afterwards.
   *
   * The change log names effective members, entities the groups of which a user
   * is a direct member. Of a group of which only direct memberships changed, the
   * log names only the group.
   */
  affectedUsers(name: string, read: ReadGroup | undefined): Iterable<string> {
    const before = this.#relatedGroup(this.#groups.get(name));
    const after = this.#relatedGroup(read?.group);
    const affected = new Set(read?.members);
    if (!before && !after) {
      return [];
    }
    for (const [username, groups] of this.#groupsOf) {
      if (groups.includes(name)) {
        if (before && after && affected.has(username)) {
          affected.delete(username);
        } else {
          affected.add(username);
        }
      }
    }
    return affected;
  }

  /**
   * Returns the groups that contain a group with one of these names. The log
   * does not name them when the group is renamed, or deleted and replaced.
   */
  parentsOf(names: Iterable<string>): readonly EntryKey[] {
    const children = new Set(names);
    return [...this.#groups.values()]
      .filter(({ memberGroups }) =>
        memberGroups.some(name => children.has(name)),
      )
      .map(({ groupname }): EntryKey => `group:${groupname}`);
  }

  /**
   * Sets or removes groups. Returns the names of all groups whose entities may
   * have changed.
   */
  setGroups(
    groups: Iterable<readonly [string, DirectoryGroup | undefined]>,
  ): Iterable<string> {
    const changed = new Set<string>();
    for (const [name, group] of groups) {
      changed.add(name);
      this.#groups.delete(name);
      this.#largeGroups.delete(name);
      if (group?.isLarge) {
        this.#largeGroups.add(name);
      }
      if (group && this.#isAccepted(group)) {
        this.#groups.set(name, group);
      }
    }
    const { children: before } = this.#nesting;
    this.#nesting = nest(this.#groups);
    for (const [name, children] of this.#nesting.children) {
      if (children.join() !== before.get(name)?.join()) {
        changed.add(name);
      }
    }
    return changed;
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
      groups: user.groups.filter(group => !this.#largeGroups.has(group)),
    };
    if (filterUser?.(related) === false) {
      return undefined;
    }
    const groups = related.groups.filter(group => this.#groups.has(group));
    const entity = userEntity({ ...related, groups }, this.#options);
    return located((await transformUser?.(entity, related)) ?? entity);
  }

  /** Returns the entity of a group, if there is one. */
  async groupEntity(name: string): Promise<Entity | undefined> {
    const group = this.#groups.get(name);
    if (!group) {
      return undefined;
    }
    const entity = groupEntity(group, {
      ...this.#options,
      children: this.#nesting.children.get(name)!,
    });
    const { transformGroup } = this.#transforms;
    return located((await transformGroup?.(entity, group)) ?? entity);
  }

  /** Returns a group if the entities of its members name it. */
  #relatedGroup(group: DirectoryGroup | undefined): DirectoryGroup | undefined {
    return group && !group.isLarge && this.#isAccepted(group)
      ? group
      : undefined;
  }

  #isAccepted(group: DirectoryGroup): boolean {
    return this.#transforms.filterGroup?.(group) !== false;
  }
}

/** The groups in each group without cycles, and the memberships left out. */
interface Nesting {
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly cut: readonly string[];
}

/**
 * Adds memberships in name order and omits each one that would close a cycle,
 * so that the result depends only on the groups.
 */
function nest(groups: ReadonlyMap<string, DirectoryGroup>): Nesting {
  const children = new Map<string, string[]>();
  const cut: string[] = [];
  const reaches = (from: string, to: string) => {
    const reached = new Set([from]);
    for (const name of reached) {
      (children.get(name) ?? []).forEach(child => reached.add(child));
    }
    return reached.has(to);
  };
  for (const parent of [...groups.keys()].sort()) {
    const added: string[] = [];
    children.set(parent, added);
    for (const child of [...groups.get(parent)!.memberGroups].sort()) {
      if (groups.has(child) && reaches(child, parent)) {
        cut.push(`${child} in ${parent}`);
      } else if (groups.has(child)) {
        added.push(child);
      }
    }
  }
  return { children, cut };
}
