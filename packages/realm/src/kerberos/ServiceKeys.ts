import {
  chown,
  copyFile,
  readFile,
  rename,
  stat,
  writeFile,
} from 'node:fs/promises';
import { ProcessOwner, findAccount } from '../processes/ProcessOwner';
import { REALM, type RealmLayout } from '../RealmLayout';
import { ENCRYPTION, HTTP_SERVICE, kdcEnvironment } from './createKdc';
import { Keytab } from './Keytab';
import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Changes the key of HTTP/localhost, as an administrator does now and then. */
export class ServiceKeys {
  readonly #layout: RealmLayout;
  readonly #programs = new ProcessOwner();

  constructor(layout: RealmLayout) {
    this.#layout = layout;
  }

  /** A new key in the KDC, and in the keytab beside the old ones. */
  async rotate(): Promise<void> {
    await this.#replace(async keytab => {
      await this.#programs.run({
        program: 'kadmin.local',
        args: [
          '-r',
          REALM,
          'ktadd',
          '-k',
          keytab,
          '-e',
          ENCRYPTION,
          HTTP_SERVICE,
        ],
        env: kdcEnvironment(this.#layout),
        account: await findAccount(),
      });
    });
  }

  /** Drops every key but the newest from the keytab. */
  async removeOld(): Promise<void> {
    await this.#replace(async keytab => {
      const newest = Keytab.parse(await readFile(keytab)).newest();
      await writeFile(keytab, newest.toBuffer());
    });
  }

  /** Readers see the old file or the new one, never half of one. */
  async #replace(change: (copy: string) => Promise<void>): Promise<void> {
    const { httpKeytab } = this.#layout;
    const copy = `${httpKeytab}.new`;
    const { uid, gid } = await stat(httpKeytab);
    await copyFile(httpKeytab, copy);
    await chown(copy, uid, gid);
    await change(copy);
    await rename(copy, httpKeytab);
  }
}

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
