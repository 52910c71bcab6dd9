import { Pool } from 'undici';
import type { Credential, Credentials } from '../credentials/Credentials';
import { SessionCredentials } from '../credentials/SessionCredentials';
import type { Portal } from '../portal/Portal';
import type { ComparedAnswer } from './ComparedAnswer';
import type { SoakQuestion } from './SoakQuestion';
import { withoutServersOwn } from './withoutServersOwn';

const CONNECTIONS = 16;
/** Less than the hour for which a token is good. */
const TOKEN_RENEW_MS = 20 * 60_000;

/** A portal and everybody who may call it, with sessions or a token. */
export class SoakPortal {
  readonly portal: Portal;
  readonly #pool: Pool;
  readonly #sessions: SessionCredentials;
  readonly #guest: string;
  #token: Credential | undefined;
  #tokenAt = -Infinity;

  constructor(options: {
    readonly portal: Portal;
    readonly tickets: Credentials;
    /** Whom the portal's guest provider signs in. */
    readonly guest: string;
  }) {
    const { portal, tickets, guest } = options;
    this.portal = portal;
    this.#pool = new Pool(portal.origin, {
      connections: CONNECTIONS,
      pipelining: 1,
    });
    this.#sessions = new SessionCredentials({
      origin: portal.origin,
      tickets,
    });
    this.#guest = guest;
  }

  /** Gets what is missing or will soon be over. */
  async renew(): Promise<void> {
    await this.#sessions.prepare();
    if (performance.now() - this.#tokenAt > TOKEN_RENEW_MS) {
      const token = await this.portal.token();
      this.#token = {
        headers: { authorization: `Bearer ${token}` },
        username: this.#guest,
      };
      this.#tokenAt = performance.now();
    }
  }

  /** What a caller is known by, other than a ticket. */
  credentialOf(username: string): Credential {
    return username === this.#guest
      ? this.#token!
      : this.#sessions.of(username);
  }

  /** Asks, and leaves out of the answer what is the server's own. */
  async ask(
    { path, mask }: SoakQuestion,
    { headers }: Credential,
  ): Promise<ComparedAnswer> {
    const { statusCode, body } = await this.#pool.request({
      method: 'GET',
      path: `/api/directory/v1${path}`,
      headers: { ...headers, ...(mask !== undefined && { 'x-fields': mask }) },
    });
    const text = await body.text();
    return {
      status: statusCode,
      text: withoutServersOwn(
        text,
        this.portal.origin.replace('127.0.0.1', 'localhost'),
      ),
    };
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
    await this.portal.stop();
  }
}
