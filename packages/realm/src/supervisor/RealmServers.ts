import { chown, symlink, writeFile } from 'node:fs/promises';
import { placeInstance } from '../directory/relocateInstance';
import { kdcConfig, krb5Config } from '../kerberos/krb5Config';
import { findAccount, type Account } from '../processes/Account';
import { endStrays } from '../processes/endStrays';
import { freePorts } from '../processes/ports';
import { ProcessOwner } from '../processes/ProcessOwner';
import { requirePrograms } from '../processes/programs';
import { realmLayout, type RealmLayout } from '../RealmLayout';
import type { ResolvedOptions } from '../RealmOptions';
import { buildTemplate } from '../template/buildTemplate';
import { TemplateCache } from '../template/TemplateCache';
import { templateKey } from '../template/templateKey';
import { memoryFolder } from './memoryFolder';
import type { RealmFacts } from './messages';
import { PrivateFolders } from './PrivateFolders';
import { Server } from './Server';
import { directoryCommand, kdcCommand } from './serverCommands';

/** Another process may take a port between the choice and its use. */
const ATTEMPTS = 3;

/** Everything that runs and every folder that exists for one realm. */
export class RealmServers {
  readonly #owner = new ProcessOwner();
  readonly #folders = new PrivateFolders();
  readonly #ending = new AbortController();
  readonly #onProgress: (step: string) => void;
  #starting: Promise<unknown> = Promise.resolve();
  #building?: string;
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
    this.#ending.abort(new Error('The realm is being stopped'));
    await this.#owner.killAll();
    await this.#starting.catch(() => {}); // whoever asked for it has been told
    if (this.#building) {
      await endStrays(this.#building);
    }
    await this.#folders.remove();
  }

  async #start(options: ResolvedOptions): Promise<RealmFacts> {
    requirePrograms();
    const account = await findAccount();
    const layout = realmLayout(await this.#folders.make('realm-'));
    const cache = new TemplateCache({
      folder: options.cacheDir,
      owner: this.#owner,
      signal: this.#ending.signal,
    });
    const key = await templateKey(options);
    await cache.copyTo(layout.dir, key, () => this.#build(options, account));
    await this.#folders.remove({ except: layout.dir });
    if (account.drop) {
      const { uid, gid } = account;
      const args = ['-R', `${uid}:${gid}`, layout.dir];
      await this.#owner.run({ program: 'chown', args });
    }
    await symlink(layout.config, layout.ownConfig);
    this.#onProgress('starting the servers');
    return this.#serve(layout, { account, accessLog: options.accessLog });
  }

  async #build(options: ResolvedOptions, account: Account): Promise<string> {
    const folder = await this.#folders.make('realm-build-');
    this.#building = folder;
    await chown(folder, account.uid, account.gid);
    await buildTemplate({
      owner: this.#owner,
      account,
      layout: realmLayout(folder),
      scratch: await this.#folders.make('realm-keys-', await memoryFolder()),
      options,
      onProgress: this.#onProgress,
    });
    return folder;
  }

  async #serve(
    layout: RealmLayout,
    {
      account,
      accessLog,
    }: Pick<ResolvedOptions, 'accessLog'> & { account: Account },
  ): Promise<RealmFacts> {
    const owner = this.#owner;
    for (let attempt = 1; ; attempt += 1) {
      const [ldapPort, ldapsPort, kdcPort] = await freePorts(3);
      await writeFile(layout.krb5Config, krb5Config(layout, kdcPort));
      await writeFile(layout.kdcConfig, kdcConfig(layout, kdcPort));
      await placeInstance(layout, {
        ldapPort,
        ldapsPort,
        account,
        accessLog,
      });
      const kdc = new Server({
        owner,
        command: kdcCommand(layout, account),
        port: kdcPort,
        until: 'connected',
      });
      const directory = new Server({
        owner,
        command: directoryCommand(layout, account),
        port: ldapPort,
        until: 'answered',
      });
      try {
        await Promise.all([kdc.start(), directory.start()]);
        this.#directory = directory;
        return { dir: layout.dir, ldapPort, ldapsPort };
      } catch (error) {
        await Promise.all([kdc.kill(), directory.kill()]);
        if (attempt === ATTEMPTS) {
          throw error;
        }
      }
    }
  }
}
