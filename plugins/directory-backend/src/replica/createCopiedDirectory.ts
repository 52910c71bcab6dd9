import type { Directory } from '../directory/Directory';
import { CopiedGroups } from './CopiedGroups';
import { CopiedMemberships } from './CopiedMemberships';
import { CopiedRows } from './CopiedRows';
import { CopiedUsers } from './CopiedUsers';

/** All of the port but the principals, who may be services and hosts. */
export type CopiedDirectory = Omit<Directory, 'findPrincipal'>;

/** Answers from a copy in memory, in the same turn. */
export function createCopiedDirectory(
  options: ConstructorParameters<typeof CopiedRows>[0],
): CopiedDirectory {
  const rows = new CopiedRows(options);
  return {
    ...new CopiedUsers(rows),
    ...new CopiedGroups(rows),
    ...new CopiedMemberships(rows),
  };
}
