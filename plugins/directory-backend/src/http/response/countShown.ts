import type { DirectoryContext } from '../../directory/Directory';
import type { Group } from '../../directory/Group';
import type { PrivateDirectory } from '../../directory/PrivateDirectory';
import { MEMBER_COUNT } from './presentGroup';

/** The members of the shown groups, counted when the mask names the count. */
export async function countShown(
  groups: readonly Group[],
  options: {
    readonly keys: readonly string[];
    readonly directory: PrivateDirectory;
    readonly context: DirectoryContext;
  },
): Promise<ReadonlyMap<string, number> | undefined> {
  const { keys, directory, context } = options;
  const groupnames = groups.map(({ groupname }) => groupname);
  return keys.includes(MEMBER_COUNT)
    ? directory.countGroupMembers({ groupnames }, context)
    : undefined;
}
