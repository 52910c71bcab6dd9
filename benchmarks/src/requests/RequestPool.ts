import {
  createSigningRequest,
  type KeyPair,
} from '@directory-gateway/backstage-plugin-directory-node/testUtils';
import { setImmediate as breathe } from 'node:timers/promises';

/**
 * Requests for certificates, each with a key of its own and used once: an
 * authority may answer a repeated one with the certificate of the first. They
 * are made while nothing is measured, as their signatures cost the load
 * generator more than it has.
 */
export class RequestPool {
  readonly #keys: Generator<KeyPair, never>;
  readonly #ready = new Map<string, string[]>();

  /** @param keys - those of the requests, no two alike */
  constructor(keys: Generator<KeyPair, never>) {
    this.#keys = keys;
  }

  /** Makes sure that there are so many requests, shared between the users. */
  async prepare(options: {
    readonly usernames: readonly string[];
    readonly count: number;
  }): Promise<void> {
    const { usernames, count } = options;
    const share = Math.ceil(count / usernames.length);
    for (const username of usernames) {
      const ready = this.#readyOf(username);
      while (ready.length < share) {
        ready.push(this.#make(username));
        await breathe();
      }
    }
  }

  /** A request of a user for themself: PKCS#10, base64 without armor. */
  take(username: string): string {
    return this.#readyOf(username).pop() ?? this.#make(username);
  }

  #readyOf(username: string): string[] {
    const ready = this.#ready.get(username) ?? [];
    this.#ready.set(username, ready);
    return ready;
  }

  #make(username: string): string {
    const { csr } = createSigningRequest({
      username,
      principal: username,
      profile: 'userCerts',
      key: this.#keys.next().value,
    });
    return csr.toString('base64');
  }
}
