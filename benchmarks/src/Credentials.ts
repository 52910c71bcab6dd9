import type { Realm } from '@directory-gateway/realm';
import { request } from 'undici';
import { createTokens } from './createTokens';
import type { Portal } from './Portal';

/** How a request is authenticated. */
export type CredentialKind = 'session cookie' | 'SPNEGO token' | 'portal token';

/** Authentication of a request. */
export interface Credential {
  /** User name of the caller in the directory. */
  readonly username: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Age at which sessions are replaced; they expire after 15 minutes. */
const RENEWAL_MS = 5 * 60_000;

/** Credentials for requests to a portal from several callers in turn. */
export class Credentials {
  readonly #realm: Realm;
  readonly #portal: Portal;
  readonly #callers: readonly string[];
  #sessions: readonly Credential[] = [];
  #createdAt = -Infinity;

  /** @param callers - user names of the callers */
  constructor(realm: Realm, portal: Portal, callers: readonly string[]) {
    this.#realm = realm;
    this.#portal = portal;
    this.#callers = callers;
  }

  /** Returns a credential for each of a number of requests. */
  async take(
    kind: CredentialKind,
    count: number,
  ): Promise<readonly Credential[]> {
    const repeat = <T>(list: readonly T[]) =>
      Array.from({ length: count }, (_, index) => list[index % list.length]);
    switch (kind) {
      case 'SPNEGO token':
        return this.#negotiate(repeat(this.#callers));
      case 'session cookie':
        if (performance.now() - this.#createdAt > RENEWAL_MS) {
          this.#sessions = await this.signIn(this.#callers);
          this.#createdAt = performance.now();
        }
        return repeat(this.#sessions);
      default:
        return repeat([await this.#portal.guest()]);
    }
  }

  /** Starts a session for each user, with a SPNEGO token. */
  async signIn(usernames: readonly string[]): Promise<readonly Credential[]> {
    const credentials = await this.#negotiate(usernames);
    return Promise.all(credentials.map(each => this.#startSession(each)));
  }

  async #negotiate(
    usernames: readonly string[],
  ): Promise<readonly Credential[]> {
    const tokens = await createTokens(this.#realm, usernames);
    return usernames.map((username, at) => ({
      username,
      headers: { authorization: `Negotiate ${tokens[at]}` },
    }));
  }

  async #startSession({ username, headers }: Credential): Promise<Credential> {
    // Not `fetch`, which sends Sec-Fetch-Mode as browsers do; they get no
    // cookie.
    const response = await request(
      `${this.#portal.origin}/api/directory/v1/me/`,
      { headers },
    );
    const text = await response.body.text();
    const cookies = [response.headers['set-cookie'] ?? []].flat();
    if (cookies.length === 0) {
      throw new Error(`The portal did not set a cookie: ${text}`);
    }
    const cookie = cookies.map(line => line.split(';')[0]).join('; ');
    return { username, headers: { cookie } };
  }
}
