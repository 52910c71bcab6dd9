import type {
  AuthService,
  DiscoveryService,
} from '@backstage/backend-plugin-api';
import { NotFoundError, ServiceUnavailableError } from '@backstage/errors';
import {
  createDirectoryClient,
  isDirectoryResponseError,
  paginate,
} from '@directory-gateway/backstage-plugin-directory-common';
import { type Principal, SignInRefusal } from './Principal';

/** Maximum time that a sign-in waits for the directory, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Number of groups in one request. */
const PAGE_SIZE = 1000;

/**
 * Looks up accounts and their groups in the `directory` plugin, with the
 * service credentials of the auth plugin.
 */
export class DirectoryAccounts {
  readonly #auth: AuthService;
  readonly #discovery: DiscoveryService;

  constructor(options: {
    readonly auth: AuthService;
    readonly discovery: DiscoveryService;
  }) {
    this.#auth = options.auth;
    this.#discovery = options.discovery;
  }

  /**
   * Returns the user name of a principal's active account. Looks up the full
   * principal, including the realm.
   *
   * @throws NotFoundError when there is no account
   * @throws SignInRefusal with `account_locked` or `account_expired`
   * @throws ServiceUnavailableError when the directory is unavailable
   */
  async requireUsable({ principal }: Principal): Promise<string> {
    const { username, locked, expired } = await this.#read(principal);
    if (locked) {
      throw new SignInRefusal('account_locked');
    }
    if (expired) {
      throw new SignInRefusal('account_expired');
    }
    return username;
  }

  /**
   * Returns the names of the groups that a user is in, directly or through
   * other groups: nearest groups first, then by name. `undefined` if the user
   * is locked or not in the directory.
   *
   * @throws ServiceUnavailableError when the directory is unavailable
   */
  async groupsOf(username: string): Promise<readonly string[] | undefined> {
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
        return undefined;
      }
      for await (const { groupname, path } of memberships) {
        groups.push({ name: groupname!, distance: path!.length });
      }
    } catch (error) {
      if (isNotFound(error, 'User not found')) {
        return undefined;
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

  async #read(principal: string) {
    const { client, options } = await this.#connect();
    try {
      const { data } = await client.get('/accounts/{principal}/', {
        params: { path: { principal } },
        ...options,
      });
      return data.result;
    } catch (error) {
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
}

function isNotFound(error: unknown, message: string): boolean {
  return (
    isDirectoryResponseError(error) &&
    error.status === 404 &&
    error.body?.message === message
  );
}
