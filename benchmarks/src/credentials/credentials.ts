import { request } from 'undici';

/** All modes, in the order of the tables. */
export const modes = ['session', 'negotiate', 'token'] as const;

/**
 * How requests are authenticated: with a session cookie, with a new SPNEGO
 * token in each request, or with a Backstage token.
 */
export type Mode = (typeof modes)[number];

/** Authentication of a request. */
export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** User name of the caller in the directory. */
  readonly username: string;
}

/** A supply of credentials, which is filled before a measurement. */
export interface Credentials {
  readonly mode: Mode;
  /**
   * User names of the callers, each of which sends the same number of requests.
   */
  readonly usernames: readonly string[];
  /** Ensures that `next` can be called the given number of times. */
  prepare(count: number): Promise<void>;
  /** Returns the next credential, or `undefined` when none is left. */
  next(): Credential | undefined;
}

/** Creates credentials with a Backstage token of one user. */
export function tokenCredentials(token: string, username: string): Credentials {
  const headers = { authorization: `Bearer ${token}` };
  return {
    mode: 'token',
    usernames: [username],
    prepare: async () => {},
    next: () => ({ headers, username }),
  };
}

/** Age at which sessions are renewed; a session lasts at most 15 minutes. */
const RENEWAL_MS = 5 * 60_000;

/** Session cookies from a portal, one for each caller. */
export class SessionCredentials implements Credentials {
  readonly mode = 'session';
  readonly usernames: readonly string[];
  readonly #origin: string;
  readonly #tickets: Credentials;
  #sessions: readonly Credential[] = [];
  #createdAt = -Infinity;
  #index = 0;

  constructor(origin: string, tickets: Credentials) {
    this.#origin = origin;
    this.#tickets = tickets;
    this.usernames = tickets.usernames;
  }

  /** @throws Error when the portal does not issue a cookie */
  async prepare(): Promise<void> {
    if (performance.now() - this.#createdAt < RENEWAL_MS) {
      return;
    }
    const sessions = new Map<string, Credential>();
    while (sessions.size < this.usernames.length) {
      await this.#tickets.prepare(this.usernames.length);
      const ticket = this.#tickets.next()!;
      if (!sessions.has(ticket.username)) {
        sessions.set(ticket.username, await this.#signIn(ticket));
      }
    }
    this.#sessions = [...sessions.values()];
    this.#createdAt = performance.now();
  }

  next(): Credential {
    this.#index = (this.#index + 1) % this.#sessions.length;
    return this.#sessions[this.#index];
  }

  async #signIn({ headers, username }: Credential): Promise<Credential> {
    // Not `fetch`, which sends Sec-Fetch-Mode as browsers do; they get no
    // cookie.
    const response = await request(`${this.#origin}/api/directory/v1/me/`, {
      headers,
    });
    await response.body.dump();
    const cookies = [response.headers['set-cookie'] ?? []].flat();
    if (response.statusCode !== 200 || cookies.length === 0) {
      throw new Error(
        `The portal returned ${response.statusCode} without a cookie for ${username}`,
      );
    }
    const cookie = cookies.map(line => line.split(';')[0]).join('; ');
    return { headers: { cookie }, username };
  }
}
