import type { Realm } from '@directory-gateway/realm';
import { NegotiateCredentials } from '../credentials/NegotiateCredentials';
import type { Credential, Credentials } from '../credentials/Credentials';
import type { People } from '../People';
import type { SeededRandom } from '../SeededRandom';

/** Tickets that are made at a time. */
const BATCH = 120;

/**
 * Who asks: the owner of a private profile, a stranger and a service with
 * tickets, and a user of the portal with its token.
 */
export class SoakCallers implements Credentials {
  readonly mode = 'negotiate';
  readonly usernames: readonly string[];
  /** Who is known by a token of the portal. */
  readonly guest: string;
  readonly #tickets: NegotiateCredentials;
  #preparing: Promise<void> = Promise.resolve();

  private constructor(tickets: NegotiateCredentials, guest: string) {
    this.#tickets = tickets;
    this.usernames = tickets.usernames;
    this.guest = guest;
  }

  static async start(options: {
    readonly realm: Realm;
    readonly people: People;
    readonly random: SeededRandom;
    readonly guest: string;
    readonly service: string;
    readonly cpu: number;
  }): Promise<SoakCallers> {
    const { realm, people, random, guest, service, cpu } = options;
    const able = people.all.filter(
      ({ locked, username }) => !locked && username !== guest,
    );
    const owner = random.pick(able.filter(({ isPrivate }) => isPrivate));
    const stranger = random.pick(able.filter(({ isPrivate }) => !isPrivate));
    const usernames = [owner.username, stranger.username, service];
    const tickets = await NegotiateCredentials.start({
      ...{ realm, usernames, cpus: [cpu] },
    });
    return new SoakCallers(tickets, guest);
  }

  /** Everybody who asks. */
  get everybody(): readonly string[] {
    return [...this.usernames, this.guest];
  }

  async prepare(count: number): Promise<void> {
    // What makes tickets takes one order at a time.
    this.#preparing = this.#preparing.then(() => this.#tickets.prepare(count));
    await this.#preparing;
  }

  next(): Credential | undefined {
    return this.#tickets.next();
  }

  /** A ticket of whosever turn it is. */
  async ticket(): Promise<Credential> {
    for (;;) {
      const ticket = this.next();
      if (ticket) {
        return ticket;
      }
      await this.prepare(BATCH);
    }
  }

  async stop(): Promise<void> {
    await this.#tickets.stop();
  }
}
