import type { Credential, Credentials } from './Credentials';

/** A token of the portal, good for any number of requests. */
export class TokenCredentials implements Credentials {
  readonly mode = 'token';
  readonly usernames: readonly string[];
  readonly #credential: Credential;

  /** @param options - a token, and the directory user it stands for */
  constructor(options: { readonly token: string; readonly username: string }) {
    const { token, username } = options;
    this.usernames = [username];
    this.#credential = {
      headers: { authorization: `Bearer ${token}` },
      username,
    };
  }

  async prepare(): Promise<void> {}

  next(): Credential {
    return this.#credential;
  }
}
