import { request } from 'undici';
import type { Credential, Credentials } from './Credentials';

/** Less than the fifteen minutes for which a cookie is good at most. */
const RENEW_MS = 5 * 60_000;

/**
 * Cookies that a portal gives a program for a ticket: one for each caller, sent
 * instead of the ticket until it is renewed.
 */
export class SessionCredentials implements Credentials {
  readonly mode = 'session';
  readonly usernames: readonly string[];
  readonly #origin: string;
  readonly #tickets: Credentials;
  #made = -Infinity;
  #turn = 0;
  #sessions: readonly Credential[] = [];
  #byName: ReadonlyMap<string, Credential> = new Map();

  /** @param options - the portal, and the tickets of those who call */
  constructor(options: {
    readonly origin: string;
    readonly tickets: Credentials;
  }) {
    this.#origin = options.origin;
    this.#tickets = options.tickets;
    this.usernames = options.tickets.usernames;
  }

  /** @throws Error when the portal gives no cookie */
  async prepare(): Promise<void> {
    if (performance.now() - this.#made < RENEW_MS) {
      return;
    }
    const sessions = new Map<string, Credential>();
    while (sessions.size < this.usernames.length) {
      await this.#tickets.prepare(this.usernames.length);
      const ticket = this.#tickets.next()!;
      if (!sessions.has(ticket.username)) {
        sessions.set(ticket.username, await this.#begin(ticket));
      }
    }
    this.#sessions = [...sessions.values()];
    this.#byName = sessions;
    this.#made = performance.now();
  }

  next(): Credential {
    this.#turn = (this.#turn + 1) % this.#sessions.length;
    return this.#sessions[this.#turn];
  }

  /** The session of one of the callers, once there are sessions. */
  of(username: string): Credential {
    return this.#byName.get(username)!;
  }

  async #begin({ headers, username }: Credential): Promise<Credential> {
    // Not by `fetch`, which says that it is a browser (Sec-Fetch-Mode).
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(`${this.#origin}/api/directory/v1/me/`, { headers });
    await body.dump();
    const cookies = [answered['set-cookie'] ?? []].flat();
    if (statusCode !== 200 || cookies.length === 0) {
      throw new Error(
        `The portal answered ${statusCode} to ${username} without a cookie`,
      );
    }
    const cookie = cookies.map(line => line.split(';')[0]).join('; ');
    return { headers: { cookie }, username };
  }
}
