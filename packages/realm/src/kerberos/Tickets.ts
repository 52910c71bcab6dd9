import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ProcessOwner } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';

/** Obtains tickets with the keys of the realm's principals, each once. */
export class Tickets {
  readonly #layout: RealmLayout;
  readonly #caches = new Map<string, Promise<string>>();

  constructor(layout: RealmLayout) {
    this.#layout = layout;
  }

  /** Returns the credential cache of a principal, as `KRB5CCNAME`. */
  of(principal: string): Promise<string> {
    const name = principal.includes('@') ? principal : `${principal}@${REALM}`;
    let cache = this.#caches.get(name);
    if (!cache) {
      cache = this.#obtain(name);
      this.#caches.set(name, cache);
      cache.catch(() => this.#caches.delete(name)); // the next call retries
    }
    return cache;
  }

  async #obtain(name: string): Promise<string> {
    const { krb5Config, peopleKeytab, tickets } = this.#layout;
    const file = createHash('sha256').update(name).digest('hex').slice(0, 32);
    const cache = `FILE:${join(tickets, file)}`;
    await new ProcessOwner().run({
      program: 'kinit',
      args: ['-k', '-t', peopleKeytab, '-c', cache, '--', name],
      env: { KRB5_CONFIG: krb5Config },
    });
    return cache;
  }
}
