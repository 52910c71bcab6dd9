import { readSecretFile } from '@directory-gateway/secret-files';
import { NoResultError } from '../rpc/errors';
import type { FreeIpaServer, Login } from '../rpc/FreeIpaServer';
import { readSession } from './readSession';

/**
 * Time for which a rejected password is not sent again. By default, FreeIPA
 * forgets a failed login after a minute, so a wrong password does not lock the
 * account.
 */
const REJECTED_PASSWORD_CACHE_MS = 2 * 60 * 1000;

/** Logs in with a user name and a password. */
export class PasswordLogin implements Login {
  readonly #username: string;
  readonly #passwordFile: string;
  #rejected: { password: string; reason: string; until: number } | undefined;

  /** @param options - `passwordFile`: absolute path, read for each login */
  constructor(options: {
    readonly username: string;
    readonly passwordFile: string;
  }) {
    this.#username = options.username;
    this.#passwordFile = options.passwordFile;
  }

  async logIn(server: FreeIpaServer): Promise<string> {
    const password = await this.#readPassword(server);
    const rejected = this.#rejected;
    if (rejected?.password === password && Date.now() < rejected.until) {
      throw rejection(server, `${rejected.reason} (cached)`);
    }
    const response = await server.postLogin({
      path: 'login_password',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/plain',
      },
      body: new URLSearchParams({ user: this.#username, password }).toString(),
    });
    // For example `invalid-password`, `password-expired` or `user-locked`.
    const reason = response.headers.get('x-ipa-rejection-reason');
    if (response.status === 401 && reason !== null) {
      const until = Date.now() + REJECTED_PASSWORD_CACHE_MS;
      this.#rejected = { password, reason, until };
      throw rejection(server, reason);
    }
    return readSession({ server: server.origin, response });
  }

  async #readPassword(server: FreeIpaServer): Promise<string> {
    try {
      const text = await readSecretFile(this.#passwordFile);
      return text.toString('utf8').replace(/\r?\n$/, '');
    } catch (error) {
      throw new NoResultError(
        'directory.certificates.freeipa.login.passwordFile cannot be read',
        {
          server: server.origin,
          executed: 'no',
          fault: 'credentials',
          cause: error,
        },
      );
    }
  }
}

function rejection(server: FreeIpaServer, reason: string): NoResultError {
  return new NoResultError(`FreeIPA rejects the gateway's login: ${reason}`, {
    server: server.origin,
    executed: 'no',
    fault: 'credentials',
  });
}
