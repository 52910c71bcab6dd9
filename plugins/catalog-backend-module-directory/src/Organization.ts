import { type Entity, stringifyEntityRef } from '@backstage/catalog-model';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Directory } from './DirectoryReader';
import {
  type DirectoryGroup,
  type DirectoryUser,
  type EntityOptions,
  groupEntity,
  located,
  userEntity,
} from './entities';
import type { DirectoryTransforms } from './extensionPoint';

/** Number of entities built before yielding to the event loop. */
const ENTITIES_PER_SLICE = 200;

/** Parts of the directory that the catalog cannot represent. */
export interface OrganizationProblems {
  /** Memberships omitted because groups contain each other. */
  readonly cycles: readonly string[];
  /** Users and groups whose entity name is already taken. */
  readonly collisions: readonly string[];
}

/** A user or a group. */
type Key = `group:${string}` | `user:${string}`;

/**
 * The users and groups in the directory. Entities are built on demand and not
 * kept, which limits memory use with large directories.
 */
export class Organization {
  readonly #users: Map<string, DirectoryUser>;
  readonly #groups = new Map<string, DirectoryGroup>();
  readonly #options: EntityOptions;
  readonly #transforms: DirectoryTransforms;
  #nesting: Nesting = { children: new Map(), parents: new Map(), cut: [] };
  #isNestingCurrent = false;
  /** Users and groups whose entities may have changed. */
  readonly #changed = new Set<Key>();
  /** Entity references by user or group. */
  readonly #refs = new Map<Key, string>();
  /** Users and groups by entity reference. The first one has the entity. */
  readonly #keys = new Map<string, readonly Key[]>();
  /** References shared by several users or groups. */
  readonly #collisions = new Set<string>();

  constructor(
    { users, groups }: Directory,
    options: EntityOptions & { readonly transforms: DirectoryTransforms },
  ) {
    this.#options = options;
    this.#transforms = options.transforms;
    this.#users = new Map(users);
    for (const name of users.keys()) {
      this.#changed.add(`user:${name}`);
    }
    for (const [name, group] of groups) {
      this.setGroup(name, group);
    }
  }

  /** Names of groups with too many members for relations. */
  get largeGroups(): ReadonlySet<string> {
    return new Set(
      [...this.#groups.values()]
        .filter(({ isLarge }) => isLarge)
        .map(({ groupname }) => groupname),
    );
  }

  /** Problems found by the last {@link updates}. */
  get problems(): OrganizationProblems {
    const colliding = [...this.#collisions].flatMap(ref =>
      this.#keys.get(ref)!.slice(1),
    );
    return {
      cycles: this.#nesting.cut,
      collisions: colliding.sort().map(key => nameOf(key)),
    };
  }

  /** Returns the names of the users in any of these groups. */
  usersIn(groups: ReadonlySet<string>): readonly string[] {
    return groups.size === 0
      ? []
      : [...this.#users.values()]
          .filter(user => user.groups.some(name => groups.has(name)))
          .map(({ username }) => username);
  }

  setUser(name: string, user: DirectoryUser | undefined): void {
    const key = user?.username ?? name;
    replace(this.#users, { name, key, value: user });
    this.#changed.add(`user:${name}`).add(`user:${key}`);
  }

  /**
   * Sets or removes a group. Users in a new or deleted group must be set as
   * well.
   */
  setGroup(name: string, group: DirectoryGroup | undefined): void {
    const key = group?.groupname ?? name;
    const { filterGroup } = this.#transforms;
    const value = group && filterGroup?.(group) !== false ? group : undefined;
    const before = this.#groups.get(name);
    replace(this.#groups, { name, key, value });
    this.#changed.add(`group:${name}`).add(`group:${key}`);
    if (key !== name || !isSame(before?.memberGroups, value?.memberGroups)) {
      this.#isNestingCurrent = false;
    }
  }

  /**
   * Yields the entities that may have changed since the last call, by
   * reference; initially all of them. `undefined` for references that no longer
   * have an entity.
   */
  async *updates(): AsyncGenerator<readonly [string, Entity | undefined]> {
    this.#updateNesting();
    const changed = [...this.#changed].sort();
    this.#changed.clear();
    for (const [index, key] of changed.entries()) {
      if (index % ENTITIES_PER_SLICE === ENTITIES_PER_SLICE - 1) {
        await nextTurn();
      }
      const entity = await this.#build(key);
      const before = this.#refs.get(key);
      const ref = entity && stringifyEntityRef(entity);
      if (before !== undefined && before !== ref) {
        this.#remove(key, before);
        const next = this.#keys.get(before)?.[0];
        yield [before, next && (await this.#build(next))];
      }
      if (ref !== undefined) {
        if (before !== ref) {
          this.#add(key, ref);
        }
        if (this.#keys.get(ref)![0] === key) {
          yield [ref, entity];
        }
      }
    }
  }

  async entityOf(ref: string): Promise<Entity | undefined> {
    const [key] = this.#keys.get(ref) ?? [];
    return key && (await this.#build(key));
  }

  #add(key: Key, ref: string): void {
    const keys = [...(this.#keys.get(ref) ?? []), key].sort();
    this.#keys.set(ref, keys);
    this.#refs.set(key, ref);
    if (keys.length > 1) {
      this.#collisions.add(ref);
    }
  }

  #remove(key: Key, ref: string): void {
    const keys = this.#keys.get(ref)!.filter(other => other !== key);
    this.#refs.delete(key);
    if (keys.length > 0) {
      this.#keys.set(ref, keys);
    } else {
      this.#keys.delete(ref);
    }
    if (keys.length < 2) {
      this.#collisions.delete(ref);
    }
  }

  /** Nests the groups again and marks those whose relations have changed. */
  #updateNesting(): void {
    if (this.#isNestingCurrent) {
      return;
    }
    const before = this.#nesting;
    const after = nest(this.#groups);
    for (const name of this.#groups.keys()) {
      if (
        !isSame(before.children.get(name), after.children.get(name)) ||
        !isSame(before.parents.get(name), after.parents.get(name))
      ) {
        this.#changed.add(`group:${name}`);
      }
    }
    this.#nesting = after;
    this.#isNestingCurrent = true;
  }

  async #build(key: Key): Promise<Entity | undefined> {
    const name = nameOf(key);
    if (key.startsWith('group:')) {
      const group = this.#groups.get(name);
      return group && (await this.#groupEntity(group));
    }
    const user = this.#users.get(name);
    return user && (await this.#userEntity(user));
  }

  async #userEntity(user: DirectoryUser): Promise<Entity | undefined> {
    const { filterUser, transformUser } = this.#transforms;
    if (filterUser?.(user) === false) {
      return undefined;
    }
    const groups = user.groups.filter(name => this.#groups.has(name));
    const entity = userEntity({ ...user, groups }, this.#options);
    return located((await transformUser?.(entity, user)) ?? entity);
  }

  async #groupEntity(group: DirectoryGroup): Promise<Entity> {
    const { children, parents } = this.#nesting;
    const { groupname } = group;
    const entity = groupEntity(group, {
      ...this.#options,
      children: children.get(groupname) ?? [],
      parents: parents.get(groupname) ?? [],
    });
    const { transformGroup } = this.#transforms;
    return located((await transformGroup?.(entity, group)) ?? entity);
  }
}

function nameOf(key: Key): string {
  return key.slice(key.indexOf(':') + 1);
}

/** Whether two optional lists have the same names in the same order. */
function isSame(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): boolean {
  return (
    a?.length === b?.length &&
    (a ?? []).every((name, index) => name === b![index])
  );
}

/** Replaces an entry that may have been renamed or removed. */
function replace<T>(
  entries: Map<string, T>,
  options: {
    readonly name: string;
    readonly key: string;
    readonly value: T | undefined;
  },
): void {
  const { name, key, value } = options;
  entries.delete(name);
  if (value) {
    entries.set(key, value);
  } else {
    entries.delete(key);
  }
}

/** Nested groups, without cycles. */
interface Nesting {
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly parents: ReadonlyMap<string, readonly string[]>;
  /** Memberships that would close a cycle. */
  readonly cut: readonly string[];
}

/**
 * Adds memberships in name order and omits each one that would close a cycle,
 * so that the result depends only on the groups.
 */
function nest(groups: ReadonlyMap<string, DirectoryGroup>): Nesting {
  const children = new Map<string, string[]>();
  const parents = new Map<string, string[]>();
  const cut: string[] = [];
  const reaches = (from: string, to: string) => {
    const reached = new Set([from]);
    for (const name of reached) {
      (children.get(name) ?? []).forEach(child => reached.add(child));
    }
    return reached.has(to);
  };
  for (const parent of [...groups.keys()].sort()) {
    const { memberGroups } = groups.get(parent)!;
    for (const child of [...memberGroups].sort()) {
      if (!groups.has(child)) {
        continue;
      }
      if (reaches(child, parent)) {
        cut.push(`${child} in ${parent}`);
      } else {
        children.set(parent, [...(children.get(parent) ?? []), child]);
        parents.set(child, [...(parents.get(child) ?? []), parent]);
      }
    }
  }
  return { children, parents, cut };
}
