import type {
  AuthService,
  DiscoveryService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { stringifyEntityRef } from '@backstage/catalog-model';
import { NotFoundError, ServiceUnavailableError } from '@backstage/errors';
import {
  createDirectoryClient,
  entityNameOf,
  isDirectoryResponseError,
  isGroupOfAllUsers,
  paginate,
} from '@directory-gateway/backstage-plugin-directory-common';
import { type UserPrincipal, SignInRefusal } from './UserPrincipal';

/** Maximum time that a sign-in waits for the directory, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Number of groups in one request. */
const PAGE_SIZE = 1000;

/**
 * Maximum number of groups in a token. With this many groups with long names, it
 * has about 10 KB.
 */
const MAX_GROUPS = 200;

/**
 * Looks up accounts and their groups in the `directory` plugin, with the
 * service credentials of the auth plugin.
 */
export class DirectoryAccounts {
  readonly #auth: AuthService;
  readonly #discovery: DiscoveryService;
  readonly #logger: LoggerService;

  constructor(options: {
    readonly auth: AuthService;
    readonly discovery: DiscoveryService;
    readonly logger: LoggerService;
  }) {
    this.#auth = options.auth;
    this.#discovery = options.discovery;
    this.#logger = options.logger;
  }

  /**
   * Returns the user name of a principal's active account. Looks up the full
   * principal, including the realm.
   *
   * @throws NotFoundError when there is no account
   * @throws SignInRefusal with `account_locked` or `account_expired`
   * @throws ServiceUnavailableError when the directory is unavailable
   */
  async requireUsable({ principal }: UserPrincipal): Promise<string> {
    const { client, options } = await this.#connect();
    const path = { principal };
    try {
      const { data } = await client.get('/accounts/{principal}/', {
        ...options,
        params: { path },
      });
      const { username, locked, expired } = data.result;
      if (locked || expired) {
        throw new SignInRefusal(locked ? 'account_locked' : 'account_expired');
      }
      return username;
    } catch (error) {
      if (error instanceof SignInRefusal) {
        throw error;
      }
      // Any other 404 does not concern the account: the plugin is not installed
      // or too old.
      if (isNotFound(error, 'Account not found')) {
        throw new NotFoundError('The directory does not have this account');
      }
      throw new ServiceUnavailableError(
        'The account cannot be looked up in the directory',
        error,
      );
    }
  }

  /**
   * Returns references to the groups that a user is in, directly or through
   * other groups, for a portal token. If there are too many, keeps the nearest
   * ones. Empty if the user is locked or not in the directory.
   *
   * @param namespace - namespace of the groups
   * @throws ServiceUnavailableError when the directory is unavailable
   */
  async groupRefsOf(
    username: string,
    { namespace }: { readonly namespace: string },
  ): Promise<readonly string[]> {
    const all = await this.#groupsOf(username);
    const groups = all.filter(name => !isGroupOfAllUsers(name));
    if (groups.length > MAX_GROUPS) {
      this.#logger.warn(
        `${username} is in ${groups.length} groups: the portal token contains the nearest ${MAX_GROUPS}`,
      );
    }
    return groups.slice(0, MAX_GROUPS).map(group =>
      stringifyEntityRef({
        kind: 'Group',
        namespace,
        name: entityNameOf(group),
      }),
    );
  }

  /** Returns the names of groups, nearest groups first, then by name. */
  async #groupsOf(username: string): Promise<readonly string[]> {
    const { client, options } = await this.#connect();
    const withFields = (fields: string) => ({
      ...options,
      headers: { ...options.headers, 'X-Fields': fields },
    });
    const memberships = paginate(({ page_number }) =>
      client.get('/users/{username}/memberships/', {
        ...withFields('groupname,path'),
        params: {
          path: { username },
          query: { page_number, page_size: PAGE_SIZE },
        },
      }),
    );
    const groups: { readonly name: string; readonly distance: number }[] = [];
    try {
      const { data } = await client.get('/users/{username}/', {
        ...withFields('locked'),
        params: { path: { username } },
      });
      if (data.result.locked) {
        return [];
      }
      for await (const { groupname, path } of memberships) {
        groups.push({ name: groupname!, distance: path!.length });
      }
    } catch (error) {
      if (isNotFound(error, 'User not found')) {
        return [];
      }
      throw new ServiceUnavailableError(
        'The groups of the user cannot be looked up in the directory',
        error,
      );
    }
    groups.sort(
      (a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1),
    );
    return groups.map(({ name }) => name);
  }

  async #connect() {
    const { token } = await this.#auth.getPluginRequestToken({
      onBehalfOf: await this.#auth.getOwnServiceCredentials(),
      targetPluginId: 'directory',
    });
    return {
      client: createDirectoryClient({
        baseUrl: `${await this.#discovery.getBaseUrl('directory')}/v1`,
      }),
      options: {
        headers: { Authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
    };
  }
}

function isNotFound(error: unknown, message: string): boolean {
  return (
    isDirectoryResponseError(error) &&
    error.status === 404 &&
    error.body?.message === message
  );
}
