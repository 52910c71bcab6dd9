import { readSecretFile } from '@directory-gateway/secret-files';
import type { HttpsResponse } from '../rpc/HttpsClient';
import type { FreeIpaServer } from '../rpc/FreeIpaServer';
import { NoResultError } from '../rpc/errors';
import type { Login } from '../rpc/FreeIpaServer';
import { readSession } from './readSession';

/**
 * How long a password that was refused is not sent again: longer than the
 * minute after which FreeIPA forgets a failure by default, so that a wrong
 * password in the file does not lock the account.
 */
const REFUSED_PASSWORD_REST_MS = 2 * 60 * 1000;

/** Logs in with a name and a password. */
export class PasswordLogin implements Login {
  readonly #username: string;
  readonly #passwordFile: string;
  #refused: { password: string; reason: string; until: number } | undefined;

  /** @param options - `passwordFile` is read for each login. */
  constructor(options: {
    readonly username: string;
    readonly passwordFile: string;
  }) {
    this.#username = options.username;
    this.#passwordFile = options.passwordFile;
  }

  async logIn(server: FreeIpaServer): Promise<string> {
    const password = await this.#readPassword(server);
    const refused = this.#refused;
    if (refused?.password === password && Date.now() < refused.until) {
      throw refusal(server, `${refused.reason}, a moment ago`);
    }
    const answer = await server.postLogin({
      path: 'login_password',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/plain',
      },
      body: new URLSearchParams({ user: this.#username, password }).toString(),
    });
    const reason = refusalReason(answer);
    if (reason !== undefined) {
      const until = Date.now() + REFUSED_PASSWORD_REST_MS;
      this.#refused = { password, reason, until };
      throw refusal(server, reason);
    }
    return readSession({ server: server.origin, answer });
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

/**
 * `invalid-password`, `password-expired`, `krbprincipal-expired`,
 * `user-locked`, `denied`; `undefined` when the password was not judged.
 */
function refusalReason(answer: HttpsResponse): string | undefined {
  const reason = answer.headers.get('x-ipa-rejection-reason');
  return answer.status === 401 && reason !== null ? reason : undefined;
}

function refusal(server: FreeIpaServer, reason: string): NoResultError {
  return new NoResultError(`FreeIPA refuses the gateway's login: ${reason}`, {
    server: server.origin,
    executed: 'no',
    fault: 'credentials',
  });
}
