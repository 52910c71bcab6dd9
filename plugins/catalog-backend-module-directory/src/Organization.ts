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

/** Users whose entities are built before yielding to the event loop. */
const USERS_PER_SLICE = 200;

/** What cannot be represented in the catalog. */
export interface OrganizationProblems {
  /** Memberships that are left out because groups contain each other. */
  readonly cycles: readonly string[];
  /** Users and groups whose entity name another one has. */
  readonly collisions: readonly string[];
}

/** The users and groups of the directory, and their entities. */
export class Organization {
  readonly #users: Map<string, DirectoryUser>;
  readonly #groups: Map<string, DirectoryGroup>;
  readonly #options: EntityOptions;
  readonly #transforms: DirectoryTransforms;
  #nesting: Nesting;
  /** Entities of unchanged users; `undefined` for users that are filtered out. */
  #userEntities = new WeakMap<DirectoryUser, { entity: Entity | undefined }>();

  constructor(
    { users, groups }: Directory,
    options: EntityOptions & { readonly transforms: DirectoryTransforms },
  ) {
    this.#options = options;
    this.#transforms = options.transforms;
    this.#users = new Map(users);
    this.#groups = new Map(
      [...groups].filter(([, group]) => this.#includesGroup(group)),
    );
    this.#nesting = nest(this.#groups);
  }

  /** Names of the groups with too many members for relations. */
  get largeGroups(): ReadonlySet<string> {
    return new Set(
      [...this.#groups.values()]
        .filter(({ isLarge }) => isLarge)
        .map(({ groupname }) => groupname),
    );
  }

  /** Names of the users in any of these groups. */
  usersIn(groups: ReadonlySet<string>): readonly string[] {
    return [...this.#users.values()]
      .filter(user => user.groups.some(name => groups.has(name)))
      .map(({ username }) => username);
  }

  setUser(name: string, user: DirectoryUser | undefined): void {
    replace(this.#users, { name, key: user?.username, value: user });
  }

  setGroup(name: string, group: DirectoryGroup | undefined): void {
    const value = group && this.#includesGroup(group) ? group : undefined;
    const isKnown = value?.groupname === name && this.#groups.has(name);
    replace(this.#groups, { name, key: group?.groupname, value });
    if (!isKnown) {
      // The entities of users depend on the names of all groups.
      this.#userEntities = new WeakMap();
    }
  }

  /** Updates what depends on all groups, after {@link setGroup}. */
  updateGroups(): void {
    this.#nesting = nest(this.#groups);
  }

  /** All entities by reference. */
  async entities(): Promise<{
    readonly entities: ReadonlyMap<string, Entity>;
    readonly problems: OrganizationProblems;
  }> {
    const entities = new Map<string, Entity>();
    const collisions: string[] = [];
    const add = (name: string, entity: Entity | undefined) => {
      if (entity) {
        const ref = stringifyEntityRef(entity);
        if (entities.has(ref)) {
          collisions.push(name);
        } else {
          entities.set(ref, entity);
        }
      }
    };
    for (const name of [...this.#groups.keys()].sort()) {
      add(name, await this.#groupEntity(this.#groups.get(name)!));
    }
    let built = 0;
    for (const name of [...this.#users.keys()].sort()) {
      const user = this.#users.get(name)!;
      let cached = this.#userEntities.get(user);
      if (!cached) {
        cached = { entity: await this.#userEntity(user) };
        this.#userEntities.set(user, cached);
        if (++built % USERS_PER_SLICE === 0) {
          await nextTurn();
        }
      }
      add(name, cached.entity);
    }
    return { entities, problems: { cycles: this.#nesting.cut, collisions } };
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

  #includesGroup(group: DirectoryGroup): boolean {
    return this.#transforms.filterGroup?.(group) ?? true;
  }
}

/** Replaces an entry that may have another name, or none, now. */
function replace<T>(
  entries: Map<string, T>,
  options: {
    readonly name: string;
    readonly key: string | undefined;
    readonly value: T | undefined;
  },
): void {
  const { name, key = name, value } = options;
  entries.delete(name);
  if (value) {
    entries.set(key, value);
  } else {
    entries.delete(key);
  }
}

/** Groups by the groups that contain them, without cycles. */
interface Nesting {
  readonly children: ReadonlyMap<string, readonly string[]>;
  readonly parents: ReadonlyMap<string, readonly string[]>;
  /** The memberships that would close a cycle. */
  readonly cut: readonly string[];
}

/**
 * Adds memberships in the order of names, and leaves out each that would close
 * a cycle: the result depends only on the groups.
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
