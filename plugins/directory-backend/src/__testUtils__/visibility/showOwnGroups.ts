import { parseEntityRef } from '@backstage/catalog-model';
import {
  isPermission,
  type PolicyDecision,
} from '@backstage/plugin-permission-common';
import type {
  PolicyQuery,
  PolicyQueryUser,
} from '@backstage/plugin-permission-node';
import {
  directoryGroupReadPermission,
  directoryUserReadPermission,
} from '@directory-gateway/backstage-plugin-directory-common';
import {
  createDirectoryGroupConditionalDecision,
  createDirectoryUserConditionalDecision,
  directoryGroupConditions,
  directoryUserConditions,
} from '@directory-gateway/backstage-plugin-directory-node';

/**
 * Shows users themselves, the groups that they are in or sponsor, and the
 * members of the groups that they are in.
 */
export function showOwnGroups(
  { permission }: PolicyQuery,
  { info }: PolicyQueryUser,
): PolicyDecision | undefined {
  const usernames = [parseEntityRef(info.userEntityRef).name];
  const groupnames = info.ownershipEntityRefs
    .map(ref => parseEntityRef(ref))
    .filter(({ kind }) => kind === 'group')
    .map(({ name }) => name);
  if (isPermission(permission, directoryGroupReadPermission)) {
    return createDirectoryGroupConditionalDecision(permission, {
      anyOf: [
        directoryGroupConditions.hasMember({ usernames }),
        directoryGroupConditions.hasSponsor({ usernames }),
      ],
    });
  }
  if (isPermission(permission, directoryUserReadPermission)) {
    return createDirectoryUserConditionalDecision(permission, {
      anyOf: [
        directoryUserConditions.isUser({ usernames }),
        directoryUserConditions.isMember({ groupnames }),
      ],
    });
  }
  return undefined;
}
