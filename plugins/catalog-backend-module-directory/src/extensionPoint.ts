import { createExtensionPoint } from '@backstage/backend-plugin-api';
import type { GroupEntity, UserEntity } from '@backstage/catalog-model';
import type { DirectoryGroup, DirectoryUser } from './entities';

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

/**
 * Sets the functions that filter and change the entities of users and groups.
 *
 * @public
 */
export const directoryTransformsExtensionPoint = createExtensionPoint<{
  /** Sets the functions. Replaces those set before. */
  setTransforms(transforms: DirectoryTransforms): void;
}>({ id: 'catalog.directory.transforms' });
