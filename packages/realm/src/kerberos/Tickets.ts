import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ProcessOwner } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';

/** Gets tickets with the keys of the realm's people, each once. */
export class Tickets {
  readonly #layout: RealmLayout;
  readonly #programs = new ProcessOwner();
  readonly #caches = new Map<string, Promise<string>>();

  constructor(layout: RealmLayout) {
    this.#layout = layout;
  }

  /** The credential cache of a principal, as a value for `KRB5CCNAME`. */
  of(principal: string): Promise<string> {
    const name = principal.includes('@') ? principal : `${principal}@${REALM}`;
    const known = this.#caches.get(name);
    if (known) {
      return known;
    }
    const cache = this.#get(name);
    this.#caches.set(name, cache);
    cache.catch(() => this.#caches.delete(name)); // let the next call try again
    return cache;
  }

  async #get(name: string): Promise<string> {
    const { krb5Config, peopleKeytab, tickets } = this.#layout;
    const file = createHash('sha256').update(name).digest('hex').slice(0, 32);
    const cache = `FILE:${join(tickets, file)}`;
    await this.#programs.run({
      program: 'kinit',
      args: ['-k', '-t', peopleKeytab, '-c', cache, '--', name],
      env: { KRB5_CONFIG: krb5Config },
    });
    return cache;
  }
}
