import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyEntityRef } from '@backstage/catalog-model';
import type { Config } from '@backstage/config';
import { InputError } from '@backstage/errors';
import {
  entityNameOf,
  isGroupOfAllUsers,
} from '@directory-gateway/backstage-plugin-directory-common';
import type { DirectoryAccounts } from './DirectoryAccounts';

/** A token with this many groups with long names has about 10 KB. */
const DEFAULT_MAX_GROUPS = 200;

/**
 * Returns the groups of directory users as entity references, for portal
 * tokens.
 */
export class DirectoryOwnership {
  readonly #accounts: DirectoryAccounts;
  readonly #logger: LoggerService;
  /** Maximum number of groups in a token. */
  readonly maxGroups: number;

  private constructor(options: {
    readonly accounts: DirectoryAccounts;
    readonly logger: LoggerService;
    readonly maxGroups: number;
  }) {
    this.#accounts = options.accounts;
    this.#logger = options.logger;
    this.maxGroups = options.maxGroups;
  }

  /**
   * Reads `directory.ownership.maxGroups`.
   *
   * @throws InputError when it is not a whole number or is negative
   */
  static create(options: {
    readonly accounts: DirectoryAccounts;
    readonly config: Config;
    readonly logger: LoggerService;
  }): DirectoryOwnership {
    const key = 'directory.ownership.maxGroups';
    const maxGroups =
      options.config.getOptionalNumber(key) ?? DEFAULT_MAX_GROUPS;
    if (!Number.isInteger(maxGroups) || maxGroups < 0) {
      throw new InputError(`${key} must be a whole number`);
    }
    return new DirectoryOwnership({ ...options, maxGroups });
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
    if (groups && groups.length > this.maxGroups) {
      this.#logger.warn(
        `${username} is in ${groups.length} groups: the portal token contains the nearest ${this.maxGroups} (directory.ownership.maxGroups)`,
      );
    }
    return groups?.slice(0, this.maxGroups).map(group =>
      stringifyEntityRef({
        kind: 'Group',
        namespace,
        name: entityNameOf(group),
      }),
    );
  }
}
