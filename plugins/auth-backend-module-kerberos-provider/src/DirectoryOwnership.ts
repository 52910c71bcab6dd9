import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyEntityRef } from '@backstage/catalog-model';
import {
  entityNameOf,
  isGroupOfAllUsers,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { DirectoryAccounts } from './DirectoryAccounts';

/**
 * Maximum number of groups in a token. With this many groups with long names, it
 * has about 10 KB.
 */
const MAX_GROUPS = 200;

/**
 * Returns the groups of directory users as entity references, for portal
 * tokens.
 */
export class DirectoryOwnership {
  readonly #accounts: DirectoryAccounts;
  readonly #logger: LoggerService;

  constructor(options: {
    readonly accounts: DirectoryAccounts;
    readonly logger: LoggerService;
  }) {
    this.#accounts = options.accounts;
    this.#logger = options.logger;
  }

  /**
   * Returns references to the groups that a user is in, directly or through
   * other groups. If there are too many, keeps the nearest ones. `undefined` if
   * the user is locked or not in the directory.
   *
   * @param namespace - namespace of the groups
   * @throws ServiceUnavailableError when the directory is unavailable
   */
  async groupRefsOf(
    username: string,
    { namespace }: { readonly namespace: string },
  ): Promise<readonly string[] | undefined> {
    const all = await this.#accounts.groupsOf(username);
    const groups = all?.filter(name => !isGroupOfAllUsers(name));
    if (groups && groups.length > MAX_GROUPS) {
      this.#logger.warn(
        `${username} is in ${groups.length} groups: the portal token contains the nearest ${MAX_GROUPS}`,
      );
    }
    return groups?.slice(0, MAX_GROUPS).map(group =>
      stringifyEntityRef({
        kind: 'Group',
        namespace,
        name: entityNameOf(group),
      }),
    );
  }
}
