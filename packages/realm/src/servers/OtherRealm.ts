import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../processes/ports';
import { ProcessOwner } from '../processes/ProcessOwner';
import { PROGRAM_PATH } from '../processes/ProcessOwner';
import type { Realm } from '../Realm';
import { realmLayout, type RealmLayout } from '../RealmLayout';
import { probe } from '../processes/ports';
import { ENCRYPTION } from '../kerberos/createKdc';
import { Keytab } from '../kerberos/Keytab';
import { kdcConfig, kdcEnvironment, krb5Config } from '../kerberos/createKdc';

const OTHER_REALM = 'OTHER.TEST';
const START_TIMEOUT_MS = 120_000;

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
  readonly #kdc: ChildProcess;

  private constructor(layout: RealmLayout, kdc: ChildProcess) {
    this.krb5Config = layout.krb5Config;
    this.ticket = `FILE:${layout.tickets}`;
    this.sharedKeytab = layout.httpKeytab;
    this.#folder = layout.dir;
    this.#kdc = kdc;
  }

  /** @throws Error when a program of MIT Kerberos is missing or fails */
  static async start(realm: Realm): Promise<OtherRealm> {
    const layout = realmLayout(await mkdtemp(join(tmpdir(), 'other-realm-')));
    const [port] = await freePorts(1);
    await mkdir(layout.kdc);
    await writeFile(layout.krb5Config, krb5Config(layout, port, OTHER_REALM));
    await writeFile(layout.kdcConfig, kdcConfig(layout, port, OTHER_REALM));
    const programs = new ProcessOwner();
    const env = kdcEnvironment(layout);
    const realmArgs = ['-r', OTHER_REALM];
    await programs.run({
      program: 'kdb5_util',
      args: ['create', '-s', ...realmArgs, '-P', 'master password'],
      env,
    });
    await programs.run(
      { program: 'kadmin.local', args: realmArgs, env },
      [
        `addprinc -randkey -e ${ENCRYPTION} alice`,
        `addprinc -randkey -e ${ENCRYPTION} HTTP/localhost`,
        `ktadd -norandkey -k ${layout.peopleKeytab} alice`,
        `ktadd -norandkey -k ${layout.httpKeytab} HTTP/localhost`,
        '',
      ].join('\n'),
    );
    const keytabs = await Promise.all(
      [realm.keytab, layout.httpKeytab].map(path => readFile(path)),
    );
    await writeFile(
      layout.httpKeytab,
      Keytab.join(keytabs.map(Keytab.parse)).toBuffer(),
    );
    // The kernel kills the KDC when this process exits (prctl(2)).
    const kdc = spawn(
      'setpriv',
      ['--pdeathsig=KILL', 'krb5kdc', '-n', ...realmArgs],
      { stdio: 'ignore', env: { ...process.env, PATH: PROGRAM_PATH, ...env } },
    );
    const other = new OtherRealm(layout, kdc);
    try {
      const signal = AbortSignal.timeout(START_TIMEOUT_MS);
      await probe({ port, until: 'connected', signal });
      const keytab = layout.peopleKeytab;
      await programs.run({
        program: 'kinit',
        args: ['-k', '-t', keytab, '-c', other.ticket, 'alice'],
        env: { KRB5_CONFIG: layout.krb5Config },
      });
    } catch (error) {
      await other.stop();
      throw error;
    }
    return other;
  }

  async stop(): Promise<void> {
    if (this.#kdc.exitCode === null && this.#kdc.signalCode === null) {
      this.#kdc.kill();
      await once(this.#kdc, 'exit');
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}
