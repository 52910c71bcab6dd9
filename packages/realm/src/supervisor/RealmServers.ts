import {
  chown,
  mkdtemp,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeInstance } from '../directory/relocateInstance';
import { kdcConfig, kdcEnvironment, krb5Config } from '../kerberos/krb5Config';
import { findAccount, type Account } from '../processes/Account';
import { endStrays } from '../processes/endStrays';
import { freePorts } from '../processes/freePorts';
import { ProcessOwner } from '../processes/ProcessOwner';
import { requirePrograms } from '../processes/programs';
import { REALM, realmLayout, type RealmLayout } from '../RealmLayout';
import type { ResolvedOptions } from '../RealmOptions';
import { buildTemplate } from '../template/buildTemplate';
import { TemplateCache } from '../template/TemplateCache';
import { templateKey } from '../template/templateKey';
import type { RealmFacts } from './messages';
import { memoryFolder } from './memoryFolder';
import { Server } from './Server';

/** Another process may take a port between the choice and its use. */
const ATTEMPTS = 3;

/** Everything that runs and every folder that exists for one realm. */
export class RealmServers {
  readonly #owner = new ProcessOwner();
  readonly #onProgress: (step: string) => void;
  readonly #folders = new Set<string>();
  #building?: string;
  #starting: Promise<unknown> = Promise.resolve();
  #directory?: Server;

  constructor(onProgress: (step: string) => void) {
    this.#onProgress = onProgress;
  }

  /** The directory server, once the realm has started. */
  get directory(): Server {
    if (!this.#directory) {
      throw new Error('The realm has not started');
    }
    return this.#directory;
  }

  async start(options: ResolvedOptions): Promise<RealmFacts> {
    const starting = this.#start(options);
    this.#starting = starting;
    return starting;
  }

  /** Ends every process at once and removes every folder. */
  async end(): Promise<void> {
    await this.#owner.killAll();
    await this.#starting.catch(() => {}); // whoever asked for it has been told
    if (this.#building) {
      await endStrays(this.#building);
    }
    await this.#remove(() => true);
  }

  async #start(options: ResolvedOptions): Promise<RealmFacts> {
    requirePrograms();
    const account = await findAccount();
    const layout = realmLayout(await this.#makeFolder('realm-'));
    const cache = new TemplateCache(options.cacheDir, this.#owner);
    const key = await templateKey(options);
    await cache.copyTo(layout.dir, key, () => this.#build(options, account));
    await this.#remove(folder => folder !== layout.dir);
    if (account.drop) {
      const { uid, gid } = account;
      const args = ['-R', `${uid}:${gid}`, layout.dir];
      await this.#owner.run({ program: 'chown', args });
    }
    await symlink(layout.config, layout.ownConfig);
    this.#onProgress('starting the servers');
    return this.#serve(layout, account);
  }

  async #build(options: ResolvedOptions, account: Account): Promise<string> {
    const folder = await this.#makeFolder('realm-build-');
    this.#building = folder;
    await chown(folder, account.uid, account.gid);
    await buildTemplate({
      owner: this.#owner,
      account,
      layout: realmLayout(folder),
      scratch: await this.#makeFolder('realm-keys-', await memoryFolder()),
      options,
      onProgress: this.#onProgress,
    });
    return folder;
  }

  async #serve(layout: RealmLayout, account: Account): Promise<RealmFacts> {
    for (let attempt = 1; ; attempt += 1) {
      const [ldapPort, ldapsPort, kdcPort] = await freePorts(3);
      await writeFile(layout.krb5Config, krb5Config(layout, kdcPort));
      await writeFile(layout.kdcConfig, kdcConfig(layout, kdcPort));
      await placeInstance(layout, { ldapPort, ldapsPort, account });
      const kdc = new Server({
        owner: this.#owner,
        port: kdcPort,
        until: 'connected',
        command: {
          program: 'krb5kdc',
          args: ['-n', '-r', REALM],
          account,
          env: kdcEnvironment(layout),
        },
      });
      this.#directory = this.#directoryServer(layout, account, ldapPort);
      try {
        await Promise.all([kdc.start(), this.#directory.start()]);
        return { dir: layout.dir, ldapPort, ldapsPort };
      } catch (error) {
        await Promise.all([kdc.kill(), this.#directory.kill()]);
        if (attempt === ATTEMPTS) {
          throw error;
        }
      }
    }
  }

  #directoryServer(
    layout: RealmLayout,
    account: Account,
    port: number,
  ): Server {
    return new Server({
      owner: this.#owner,
      port,
      until: 'answered',
      command: {
        program: 'ns-slapd',
        args: [
          '-D',
          layout.ownConfig,
          '-i',
          join(layout.dir, 'slapd.pid'),
          '-d',
          '0',
        ],
        account,
        env: {
          KRB5_CONFIG: layout.krb5Config,
          KRB5_KTNAME: layout.ldapKeytab,
          KRB5RCACHENAME: `file2:${join(layout.dir, 'ldap.rcache')}`,
        },
      },
    });
  }

  async #remove(which: (folder: string) => boolean): Promise<void> {
    for (const folder of [...this.#folders].filter(which)) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      await rm(realmLayout(folder).semaphore, { force: true });
      this.#folders.delete(folder);
    }
  }

  async #makeFolder(prefix: string, parent = tmpdir()): Promise<string> {
    const folder = await mkdtemp(join(await realpath(parent), prefix));
    this.#folders.add(folder);
    return folder;
  }
}
