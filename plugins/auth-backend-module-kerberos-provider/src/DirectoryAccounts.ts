import type {
  AuthService,
  DiscoveryService,
} from '@backstage/backend-plugin-api';
import { NotFoundError, ServiceUnavailableError } from '@backstage/errors';
import {
  createDirectoryClient,
  isDirectoryResponseError,
} from '@directory-gateway/backstage-plugin-directory-common';
import { type Principal, SignInRefusal } from './Principal';

/** Maximum time that a sign-in waits for the directory. */
const TIMEOUT_MS = 10_000;

/** Looks up accounts in the plugin `directory`, as the auth plugin. */
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
   * Returns the user name of a principal's live account. The whole principal
   * is looked up, including its realm.
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

  async #read(principal: string) {
    const { token } = await this.#auth.getPluginRequestToken({
      onBehalfOf: await this.#auth.getOwnServiceCredentials(),
      targetPluginId: 'directory',
    });
    const client = createDirectoryClient({
      baseUrl: `${await this.#discovery.getBaseUrl('directory')}/v1`,
    });
    try {
      const { data } = await client.get('/accounts/{principal}/', {
        params: { path: { principal } },
        headers: { Authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return data.result;
    } catch (error) {
      // Any other 404 is not about the account: the plugin is not installed, or
      // it is too old.
      if (
        isDirectoryResponseError(error) &&
        error.status === 404 &&
        error.body?.message === 'Account not found'
      ) {
        throw new NotFoundError('The directory has no such account');
      }
      throw new ServiceUnavailableError(
        'The account cannot be looked up in the directory',
        error,
      );
    }
  }
}
