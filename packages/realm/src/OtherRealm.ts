import * as kdc from './kdc';
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
  /** `KRB5_CONFIG` of this realm's clients. */
  readonly krb5Config: string;
  /** `KRB5CCNAME` with a ticket of `alice@OTHER.TEST`. */
  readonly ticket: string;
  /** Keytab with the keys of `HTTP/localhost` in both realms. */
  readonly sharedKeytab: string;
  readonly #folder: string;
  readonly #kdc: Server;

  private constructor(files: RealmFiles, server: Server) {
    this.krb5Config = files.krb5Config;
    this.ticket = `FILE:${files.tickets}`;
    this.sharedKeytab = files.httpKeytab;
    this.#folder = files.folder;
    this.#kdc = server;
  }

  /** @throws Error when a program of MIT Kerberos is missing or fails */
  static async start(realm: Realm): Promise<OtherRealm> {
    const files = realmFiles(await createFolder('other-realm-'));
    const { peopleKeytab, ldapKeytab: ownKeytab } = files;
    await kdc.createDatabase(files, OTHER_REALM, [
      ...kdc.addPrincipal('alice', peopleKeytab),
      ...kdc.addPrincipal('HTTP/localhost', ownKeytab),
    ]);
    await kdc.joinKeytabs([realm.keytab, ownKeytab], files.httpKeytab);
    const [port] = await freePorts(1);
    await kdc.writeKdcConfig(files, OTHER_REALM, port);
    const server = kdc.kdcServer(files, OTHER_REALM, port);
    await server.start();
    const other = new OtherRealm(files, server);
    const args = ['-k', '-t', peopleKeytab, '-c', other.ticket, 'alice'];
    const env = { KRB5_CONFIG: files.krb5Config };
    await run({ program: 'kinit', args, env });
    return other;
  }

  async stop(): Promise<void> {
    await this.#kdc.stop();
    await removeFolder(this.#folder);
  }
}
