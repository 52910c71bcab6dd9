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
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placeInstance } from '../directory/configureInstance';
import { kdcConfig, kdcEnvironment, krb5Config } from '../kerberos/createKdc';
import { freePorts } from '../processes/ports';
import {
  findAccount,
  killOrphans,
  ProcessOwner,
  requirePrograms,
  type Account,
} from '../processes/ProcessOwner';
import { Server } from '../processes/Server';
import { REALM, type RealmLayout, realmLayout } from '../RealmLayout';
import type { ResolvedOptions } from '../RealmOptions';
import { copyTemplate, templateKey } from '../template/copyTemplate';
import type { RealmFacts } from './messages';

/**
 * Number of attempts: another process may take a port before the server does.
 */
const MAX_ATTEMPTS = 3;

/**
 * The main thread of `ns-slapd` only waits for the end, and wakes up every
 * millisecond, which takes 3 % of a CPU.
 */
const DIRECTORY_SLACK_MS = 50;

const SHARED_MEMORY = '/dev/shm';

/** Enough for the keys of 100,000 users; containers often have 64 MB. */
const KEYS_BYTES = 200 * 1024 * 1024;

/** All processes and folders of one realm. */
export class RealmServers {
  readonly #owner = new ProcessOwner();
  /** Temporary folders. */
  readonly #folders = new Set<string>();
  readonly #aborter = new AbortController();
  readonly #onProgress: (step: string) => void;
  #started: Promise<unknown> = Promise.resolve();
  #buildFolder?: string;
  #directory?: Server;
  #kdc?: Server;

  constructor(onProgress: (step: string) => void) {
    this.#onProgress = onProgress;
  }

  /** The directory server, after the start. */
  get directory(): Server {
    return requireStarted(this.#directory);
  }

  /** The KDC, after the start. */
  get kdc(): Server {
    return requireStarted(this.#kdc);
  }

  async start(options: ResolvedOptions): Promise<RealmFacts> {
    const started = this.#start(options);
    this.#started = started;
    return started;
  }

  /** Kills all processes and removes all folders. */
  async end(): Promise<void> {
    this.#aborter.abort(new Error('The realm is stopping'));
    await this.#owner.killAll();
    await this.#started.catch(() => {}); // reported to the caller
    if (this.#buildFolder) {
      await killOrphans(this.#buildFolder);
    }
    await this.#removeFolders();
  }

  async #start(options: ResolvedOptions): Promise<RealmFacts> {
    requirePrograms();
    const account = await findAccount();
    const layout = realmLayout(await this.#makeFolder('realm-'));
    await copyTemplate({
      cacheDir: options.cacheDir,
      key: await templateKey(options),
      target: layout.dir,
      owner: this.#owner,
      signal: this.#aborter.signal,
      build: () => this.#build(options, account),
    });
    await this.#removeFolders({ except: layout.dir });
    if (account.drop) {
      const { uid, gid } = account;
      const args = ['-R', `${uid}:${gid}`, layout.dir];
      await this.#owner.run({ program: 'chown', args });
    }
    await symlink(layout.config, layout.ownConfig);
    this.#onProgress('starting the servers');
    return this.#startServers(layout, account, options.accessLog);
  }

  async #build(options: ResolvedOptions, account: Account): Promise<string> {
    const folder = await this.#makeFolder('realm-build-');
    this.#buildFolder = folder;
    await chown(folder, account.uid, account.gid);
    await loadBuilder().buildTemplate({
      owner: this.#owner,
      account,
      layout: realmLayout(folder),
      scratch: await this.#makeFolder('realm-keys-', await memoryFolder()),
      options,
      onProgress: this.#onProgress,
    });
    return folder;
  }

  async #startServers(
    layout: RealmLayout,
    account: Account,
    accessLog: ResolvedOptions['accessLog'],
  ): Promise<RealmFacts> {
    const owner = this.#owner;
    for (let attempt = 1; ; attempt += 1) {
      const [ldapPort, ldapsPort, kdcPort] = await freePorts(3);
      await writeFile(layout.krb5Config, krb5Config(layout, kdcPort));
      await writeFile(layout.kdcConfig, kdcConfig(layout, kdcPort));
      const place = { ldapPort, ldapsPort, account, accessLog };
      await placeInstance(layout, place);
      const kdc = new Server({
        owner,
        command: {
          program: 'krb5kdc',
          args: ['-n', '-r', REALM],
          account,
          env: kdcEnvironment(layout),
        },
        port: kdcPort,
        until: 'connected',
      });
      const directory = new Server({
        owner,
        command: {
          program: 'ns-slapd',
          // `-d` keeps it in the foreground.
          args: [
            ...['-D', layout.ownConfig, '-d', '0'],
            ...['-i', join(layout.dir, 'slapd.pid')],
          ],
          account,
          env: {
            KRB5_CONFIG: layout.krb5Config,
            KRB5_KTNAME: layout.ldapKeytab,
            KRB5RCACHENAME: `file2:${join(layout.dir, 'ldap.rcache')}`,
          },
        },
        port: ldapPort,
        until: 'response',
        timerSlackMs: DIRECTORY_SLACK_MS,
      });
      try {
        await Promise.all([kdc.start(), directory.start()]);
        this.#directory = directory;
        this.#kdc = kdc;
        return { dir: layout.dir, ldapPort, ldapsPort };
      } catch (error) {
        await Promise.all([kdc.kill(), directory.kill()]);
        if (attempt === MAX_ATTEMPTS) {
          throw error;
        }
      }
    }
  }

  async #makeFolder(prefix: string, parent = tmpdir()): Promise<string> {
    const folder = await mkdtemp(join(await realpath(parent), prefix));
    this.#folders.add(folder);
    return folder;
  }

  /** Removes folders, and the semaphore that a killed server leaves behind. */
  async #removeFolders({ except }: { except?: string } = {}): Promise<void> {
    for (const folder of this.#folders) {
      if (folder !== except) {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
        await rm(realmLayout(folder).semaphore, { force: true });
        this.#folders.delete(folder);
      }
    }
  }
}

/**
 * Loads the code that builds a template, which takes almost a second, only when
 * it is needed: most starts copy a template.
 */
function loadBuilder(): typeof import('../template/buildTemplate') {
  return createRequire(__filename)('../template/buildTemplate');
}

function requireStarted(server: Server | undefined): Server {
  if (!server) {
    throw new Error('The realm has not started');
  }
  return server;
}

/**
 * Returns a folder in memory if possible, otherwise the folder for temporary
 * files.
 */
async function memoryFolder(): Promise<string> {
  try {
    await access(SHARED_MEMORY, constants.W_OK);
    const { bavail, bsize } = await statfs(SHARED_MEMORY);
    return bavail * bsize > KEYS_BYTES ? SHARED_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
