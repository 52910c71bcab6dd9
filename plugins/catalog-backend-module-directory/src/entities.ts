import {
  ANNOTATION_LOCATION,
  ANNOTATION_ORIGIN_LOCATION,
  type Entity,
  type GroupEntity,
  type UserEntity,
} from '@backstage/catalog-model';
import {
  cleanText,
  DIRECTORY_ENTITY_LOCATION,
  entityNameOf,
} from '@directory-gateway/backstage-plugin-directory-common';
import { createHash } from 'node:crypto';

/** Annotations with the name in the directory. */
const USER_ANNOTATION = 'directory-gateway/username';
const GROUP_ANNOTATION = 'directory-gateway/groupname';

/** Annotation with the digest of an entity, by which changes are detected. */
const DIGEST_ANNOTATION = 'directory-gateway/digest';

/**
 * Maximum length of a text in an entity, in UTF-16 code units. The search index
 * in PostgreSQL has one `tsvector` for all texts of an entity, of at most 1 MiB.
 */
const MAX_TEXT_LENGTH = 10_000;

/**
 * A user as visible to every reader of the directory.
 *
 * @public
 */
export interface DirectoryUser {
  /** User name, in the directory's spelling. */
  readonly username: string;
  /** Full name; `undefined` if not set or in a private profile. */
  readonly humanName?: string;
  /** First e-mail address; `undefined` if there is none. */
  readonly email?: string;
  /** Names of the groups in which the user is a direct member. */
  readonly groups: readonly string[];
}

/**
 * A group in the directory.
 *
 * @public
 */
export interface DirectoryGroup {
  /** Group name, in the directory's spelling. */
  readonly groupname: string;
  /** Description; `undefined` if there is none. */
  readonly description?: string;
  /** Names of the groups that are direct members. */
  readonly memberGroups: readonly string[];
  /** Whether the group has too many members for relations. */
  readonly isLarge: boolean;
}

/**
 * Functions that filter and change the entities of users and groups. Results
 * must depend only on the arguments.
 *
 * @public
 */
export interface DirectoryTransforms {
  /** Whether a user becomes an entity. Default: every user. */
  filterUser?(user: DirectoryUser): boolean;
  /** Whether a group becomes an entity. Default: every group. */
  filterGroup?(group: DirectoryGroup): boolean;
  /** Returns the entity of a user. Default: the given entity. */
  transformUser?(
    entity: UserEntity,
    user: DirectoryUser,
  ): Promise<UserEntity> | UserEntity;
  /** Returns the entity of a group. Default: the given entity. */
  transformGroup?(
    entity: GroupEntity,
    group: DirectoryGroup,
  ): Promise<GroupEntity> | GroupEntity;
}

/** A user or a group, by its name in the directory. */
export type EntryKey = `group:${string}` | `user:${string}`;

/** Options of all entities. */
export interface EntityOptions {
  readonly namespace: string;
  /** Base URL of the portal, without a trailing slash. */
  readonly appUrl: string;
}

/** Creates the entity of a user. */
export function userEntity(
  user: DirectoryUser,
  { namespace, appUrl }: EntityOptions,
): UserEntity {
  const { username, humanName, email } = user;
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'User',
    metadata: {
      name: entityNameOf(username),
      namespace,
      // Title in search results.
      ...(humanName !== undefined && { title: humanName }),
      annotations: { [USER_ANNOTATION]: username },
      links: [
        {
          url: `${appUrl}/directory/people/${encodeURIComponent(username)}`,
          title: 'Directory',
          icon: 'user',
        },
      ],
    },
    spec: {
      profile: {
        ...(humanName !== undefined && { displayName: humanName }),
        ...(email !== undefined && { email }),
      },
      memberOf: user.groups.map(entityNameOf).sort(),
    },
  };
}

/** Creates the entity of a group with its child groups. */
export function groupEntity(
  group: DirectoryGroup,
  options: EntityOptions & { readonly children: readonly string[] },
): GroupEntity {
  const { namespace, appUrl, children } = options;
  const { groupname, description } = group;
  return {
    apiVersion: 'backstage.io/v1alpha1',
    kind: 'Group',
    metadata: {
      name: entityNameOf(groupname),
      namespace,
      ...(description !== undefined && { description }),
      annotations: { [GROUP_ANNOTATION]: groupname },
      links: [
        {
          url: `${appUrl}/directory/groups/${encodeURIComponent(groupname)}`,
          title: group.isLarge ? 'Members in the directory' : 'Directory',
          icon: 'group',
        },
      ],
    },
    spec: {
      type: 'team',
      profile: { displayName: groupname },
      children: children.map(entityNameOf).sort(),
    },
  };
}

/**
 * Cleans the texts of an entity, because transforms can add any text, and adds
 * the location and digest annotations. The digest is followed by the time: the
 * catalog ignores an entity that it was given before, even if it did not
 * process it then.
 */
export function located(transformed: Entity): Entity {
  const entity = cleaned(transformed) as Entity;
  const annotations = {
    ...entity.metadata.annotations,
    [ANNOTATION_LOCATION]: DIRECTORY_ENTITY_LOCATION,
    [ANNOTATION_ORIGIN_LOCATION]: DIRECTORY_ENTITY_LOCATION,
  };
  const content = {
    ...entity,
    metadata: { ...entity.metadata, annotations },
  };
  const digest = createHash('sha256')
    .update(JSON.stringify(content))
    .digest('base64url');
  return {
    ...content,
    metadata: {
      ...content.metadata,
      annotations: {
        ...annotations,
        [DIGEST_ANNOTATION]: `${digest}.${Date.now()}`,
      },
    },
  };
}

/** Cleans and shortens every text in a JSON value, including keys. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') {
    return cleanText(value, MAX_TEXT_LENGTH);
  }
  if (Array.isArray(value)) {
    return value.map(cleaned);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, each]) => [cleaned(key), cleaned(each)]),
  );
}

/**
 * Returns the digest of an entity; empty if the catalog does not have it or it
 * is from another provider.
 */
export function digestOf(entity: Entity | undefined): string {
  const annotation = entity?.metadata.annotations?.[DIGEST_ANNOTATION];
  return annotation?.split('.')[0] ?? '';
}

/** Returns the user or group of an entity in the catalog. */
export function keyOf({ kind, metadata }: Entity): EntryKey {
  const { annotations = {}, name } = metadata;
  return kind === 'Group'
    ? `group:${annotations[GROUP_ANNOTATION] ?? name}`
    : `user:${annotations[USER_ANNOTATION] ?? name}`;
}
