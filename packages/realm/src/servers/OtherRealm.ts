import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDatabase,
  ENCRYPTION,
  joinKeytabs,
  kdcEnvironment,
} from '../kerberos/createKdc';
import { freePorts } from '../processes/ports';
import { ProcessOwner } from '../processes/ProcessOwner';
import { Server } from '../processes/Server';
import type { Realm } from '../Realm';
import { realmLayout, type RealmLayout } from '../RealmLayout';

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

  private constructor(layout: RealmLayout, kdc: Server) {
    this.krb5Config = layout.krb5Config;
    this.ticket = `FILE:${layout.tickets}`;
    this.sharedKeytab = layout.httpKeytab;
    this.#folder = layout.dir;
    this.#kdc = kdc;
  }

  /** @throws Error when a program of MIT Kerberos is missing or fails */
  static async start(realm: Realm): Promise<OtherRealm> {
    const layout = realmLayout(await mkdtemp(join(tmpdir(), 'other-realm-')));
    const { httpKeytab, peopleKeytab, krb5Config } = layout;
    const [port] = await freePorts(1);
    const owner = new ProcessOwner();
    await createDatabase(
      owner,
      layout,
      [
        `addprinc -randkey -e ${ENCRYPTION} alice`,
        `addprinc -randkey -e ${ENCRYPTION} HTTP/localhost`,
        `ktadd -norandkey -k ${peopleKeytab} alice`,
        `ktadd -norandkey -k ${httpKeytab} HTTP/localhost`,
      ],
      { realm: OTHER_REALM, kdcPort: port },
    );
    const shared = await joinKeytabs([realm.keytab, httpKeytab]);
    await writeFile(httpKeytab, shared);
    const kdc = new Server({
      owner,
      command: {
        // The kernel kills the KDC when this process exits (prctl(2)).
        program: 'setpriv',
        args: ['--pdeathsig=KILL', 'krb5kdc', '-n', '-r', OTHER_REALM],
        env: kdcEnvironment(layout),
      },
      port,
      until: 'connected',
    });
    const other = new OtherRealm(layout, kdc);
    try {
      await kdc.start();
      await owner.run({
        program: 'kinit',
        args: ['-k', '-t', peopleKeytab, '-c', other.ticket, 'alice'],
        env: { KRB5_CONFIG: krb5Config },
      });
    } catch (error) {
      await other.stop();
      throw error;
    }
    return other;
  }

  async stop(): Promise<void> {
    await this.#kdc.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
