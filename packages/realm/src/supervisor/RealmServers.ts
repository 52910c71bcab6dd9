import {
  access,
  chown,
  constants,
  mkdtemp,
  realpath,
  rm,
  statfs,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { placeInstance } from '../directory/configureInstance';
import { kdcConfig, kdcEnvironment, krb5Config } from '../kerberos/createKdc';
import {
  type Account,
  type Command,
  ProcessOwner,
  endStrays,
  findAccount,
  requirePrograms,
} from '../processes/ProcessOwner';
import { freePorts } from '../processes/ports';
import { REALM, type RealmLayout, realmLayout } from '../RealmLayout';
import type { ResolvedOptions } from '../RealmOptions';
import { buildTemplate } from '../template/buildTemplate';
import { TemplateCache, templateKey } from '../template/TemplateCache';
import type { RealmFacts } from './messages';
import { Server } from './Server';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

/** The temporary folders of a realm, none of which may outlive it. */
export class PrivateFolders {
  readonly #folders = new Set<string>();

  /** Makes one that only this process' account can enter. */
  async make(prefix: string, parent = tmpdir()): Promise<string> {
    const folder = await mkdtemp(join(await realpath(parent), prefix));
    this.#folders.add(folder);
    return folder;
  }

  /** Removes all, or all but one, with what a server in them left elsewhere. */
  async remove({ except }: { except?: string } = {}): Promise<void> {
    for (const folder of this.#folders) {
      if (folder !== except) {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
        await rm(realmLayout(folder).semaphore, { force: true });
        this.#folders.delete(folder);
      }
    }
  }
}

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

/** How the KDC is run in the foreground. */
export function kdcCommand(layout: RealmLayout, account: Account): Command {
  return {
    program: 'krb5kdc',
    args: ['-n', '-r', REALM],
    account,
    env: kdcEnvironment(layout),
  };
}

/**
 * How the directory server is run: in the foreground, which `-d` brings about,
 * with its own key and its own replay cache.
 */
export function directoryCommand(
  layout: RealmLayout,
  account: Account,
): Command {
  const pidFile = join(layout.dir, 'slapd.pid');
  return {
    program: 'ns-slapd',
    args: ['-D', layout.ownConfig, '-i', pidFile, '-d', '0'],
    account,
    env: {
      KRB5_CONFIG: layout.krb5Config,
      KRB5_KTNAME: layout.ldapKeytab,
      KRB5RCACHENAME: `file2:${join(layout.dir, 'ldap.rcache')}`,
    },
  };
}

const SHARED_MEMORY = '/dev/shm';

/** Enough for the keys of 100,000 people; containers often have 64 MB there. */
const ROOM = 200 * 1024 * 1024;

/** Where short-lived files are in memory, or the ordinary place for them. */
export async function memoryFolder(): Promise<string> {
  try {
    await access(SHARED_MEMORY, constants.W_OK);
    const { bavail, bsize } = await statfs(SHARED_MEMORY);
    return bavail * bsize > ROOM ? SHARED_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
