import type { Realm } from '@directory-gateway/realm';
import type { Credential, Credentials } from './Credentials';
import { TokenMaker } from './TokenMaker';

/** Less than the five minutes for which a token is good. */
const LIFETIME_MS = 200_000;

interface MadeCredential extends Credential {
  /** By `performance.now()`. */
  readonly made: number;
}

/**
 * Kerberos tokens, each used once: a server with a replay cache refuses a
 * second use (RFC 4120 §3.2.3). A client's half of the work costs more than
 * the load generator has, so they are made in advance, but not long before:
 * one older than five minutes is refused as well.
 */
export class NegotiateCredentials implements Credentials {
  readonly mode = 'negotiate';
  readonly usernames: readonly string[];
  readonly #callers: readonly { username: string; ticket: string }[];
  readonly #makers: readonly TokenMaker[];
  #ready: MadeCredential[] = [];

  private constructor(options: {
    readonly callers: readonly { username: string; ticket: string }[];
    readonly makers: readonly TokenMaker[];
  }) {
    this.#callers = options.callers;
    this.usernames = options.callers.map(({ username }) => username);
    this.#makers = options.makers;
  }

  /**
   * Gets every caller a ticket, and starts a process a CPU that makes tokens
   * while nothing is measured.
   */
  static async start(options: {
    readonly realm: Realm;
    readonly usernames: readonly string[];
    readonly cpus: readonly number[];
  }): Promise<NegotiateCredentials> {
    const { realm, usernames, cpus } = options;
    const callers = await Promise.all(
      usernames.map(async username => ({
        username,
        ticket: await realm.ticket(username),
      })),
    );
    const makers = cpus.map(cpu => new TokenMaker({ cpu, realm }));
    return new NegotiateCredentials({ callers, makers });
  }

  async prepare(count: number): Promise<void> {
    const now = performance.now();
    this.#ready = this.#ready.filter(({ made }) => now - made < LIFETIME_MS);
    const missing = count - this.#ready.length;
    if (missing <= 0) {
      return;
    }
    const share = Math.ceil(missing / this.#callers.length);
    const made = await Promise.all(
      this.#makers.map(async (maker, index) => {
        const batches: MadeCredential[][] = [];
        for (const [at, { username, ticket }] of this.#callers.entries()) {
          if (at % this.#makers.length === index) {
            const tokens = await maker.make({ ticket, count: share });
            batches.push(
              tokens.map(token => ({
                headers: { authorization: `Negotiate ${token}` },
                username,
                made: now,
              })),
            );
          }
        }
        return batches;
      }),
    );
    const batches = made.flat();
    // One of each caller in turn.
    const fresh = Array.from({ length: share }, (_, turn) =>
      batches.map(batch => batch[turn]),
    ).flat();
    // The oldest are used first: they are taken from the end.
    this.#ready = [...fresh.reverse(), ...this.#ready];
  }

  next(): Credential | undefined {
    return this.#ready.pop();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#makers.map(maker => maker.stop()));
  }
}
