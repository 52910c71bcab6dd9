import type {
  AuthService,
  DiscoveryService,
} from '@backstage/backend-plugin-api';
import { NotFoundError, ServiceUnavailableError } from '@backstage/errors';
import {
  createDirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { SignInRefusal } from './SignInRefusal';

/** A sign-in that waits longer has failed. */
const PATIENCE_MS = 10_000;

/** Asks the plugin `directory` about accounts, as the auth plugin itself. */
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
   * Resolves when the directory has a user of that name who may use it.
   *
   * @throws NotFoundError when it has none
   * @throws SignInRefusal with `account_locked`
   * @throws ServiceUnavailableError when it cannot tell for now
   */
  async requireUsable(username: string): Promise<void> {
    const user = await this.#read(username);
    if (user.locked) {
      throw new SignInRefusal('account_locked');
    }
  }

  async #read(username: string) {
    const { token } = await this.#auth.getPluginRequestToken({
      onBehalfOf: await this.#auth.getOwnServiceCredentials(),
      targetPluginId: 'directory',
    });
    const client = createDirectoryClient({
      baseUrl: `${await this.#discovery.getBaseUrl('directory')}/v1`,
    });
    try {
      const { data } = await client.get('/users/{username}/', {
        params: { path: { username } },
        headers: {
          Authorization: `Bearer ${token}`,
          'X-Fields': 'username,locked',
        },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return data.result;
    } catch (error) {
      // Without a body of its own the plugin is missing, not the user.
      if (
        isDirectoryResponseError(error) &&
        error.status === 404 &&
        error.body
      ) {
        throw new NotFoundError('The directory has no such user');
      }
      throw new ServiceUnavailableError(
        'The directory cannot tell whether the account is usable',
        error,
      );
    }
  }
}
