import { join } from 'node:path';
import {
  addPrincipal,
  createDatabase,
  joinKeytabs,
  kdcServer,
  writeKdcConfig,
} from './kdc';
import { createFolder, removeFolder, run } from './processes';
import type { Realm } from './Realm';
import { realmFiles, type RealmFiles } from './realmFiles';
import { freePorts, type Server } from './Server';

const OTHER_REALM = 'OTHER.TEST';

/**
 * A second Kerberos realm, `OTHER.TEST`, with the principals `alice` and
 * `HTTP/localhost`. It has no directory, and no trust with the first realm.
 */
export class OtherRealm {
  readonly #files: RealmFiles;
  readonly #kdc: Server;

  private constructor(files: RealmFiles, kdc: Server) {
    this.#files = files;
    this.#kdc = kdc;
  }

  /** @throws Error when a program of MIT Kerberos is missing or fails */
  static async start(realm: Realm): Promise<OtherRealm> {
    const files = realmFiles(await createFolder('other-realm-'));
    const [port] = await freePorts(1);
    const other = new OtherRealm(files, kdcServer(files, OTHER_REALM, port));
    try {
      const ownKeytab = join(files.folder, 'own.keytab');
      await createDatabase(files, OTHER_REALM, [
        ...addPrincipal('alice', files.peopleKeytab),
        ...addPrincipal('HTTP/localhost', ownKeytab),
      ]);
      await joinKeytabs([realm.keytab, ownKeytab], files.httpKeytab);
      await writeKdcConfig(files, OTHER_REALM, port);
      await other.#kdc.start();
      await run({
        program: 'kinit',
        args: ['-k', '-t', files.peopleKeytab, '-c', other.ticket, 'alice'],
        env: { KRB5_CONFIG: files.krb5Config },
      });
    } catch (error) {
      await other.stop();
      throw error;
    }
    return other;
  }

  /** `KRB5_CONFIG` of this realm's clients. */
  get krb5Config(): string {
    return this.#files.krb5Config;
  }

  /** `KRB5CCNAME` with a ticket of `alice@OTHER.TEST`. */
  get ticket(): string {
    return `FILE:${this.#files.tickets}`;
  }

  /** Keytab with the keys of `HTTP/localhost` in both realms. */
  get sharedKeytab(): string {
    return this.#files.httpKeytab;
  }

  async stop(): Promise<void> {
    await this.#kdc.stop();
    await removeFolder(this.#files.folder);
  }
}
