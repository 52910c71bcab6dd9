import type { Directory } from '../directory/Directory';
import { CopiedGroups } from './CopiedGroups';
import { CopiedMemberships } from './CopiedMemberships';
import { CopiedRows } from './CopiedRows';
import { CopiedUsers } from './CopiedUsers';

/** Returns a directory that reads the replica. */
export function createCopiedDirectory(
  options: ConstructorParameters<typeof CopiedRows>[0],
): Directory {
  const rows = new CopiedRows(options);
  return {
    ...new CopiedUsers(rows),
    ...new CopiedGroups(rows),
    ...new CopiedMemberships(rows),
  };
}
