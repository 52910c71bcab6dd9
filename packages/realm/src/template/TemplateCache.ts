import {
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { type ProcessOwner, findProgram } from '../processes/ProcessOwner';
import { createHash } from 'node:crypto';
import { PACKAGE_FOLDER, type ResolvedOptions } from '../RealmOptions';
import { setTimeout } from 'node:timers/promises';

const POLL_MS = 100;

/**
 * A lock by the existence of a file that names the process that holds it. A
 * process that has died holds nothing.
 */
export class FileLock {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Waits as long as another process holds it.
   *
   * @param signal - ends the waiting
   */
  static async acquire(path: string, signal?: AbortSignal): Promise<FileLock> {
    while (!(await create(path))) {
      if (await isHeld(path)) {
        await setTimeout(POLL_MS, undefined, { signal });
      } else {
        await rm(path, { force: true });
      }
    }
    return new FileLock(path);
  }

  async release(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}

/** Prepared realms beyond this many are dropped, the longest unused first… */
const KEPT = 8;

/** …unless they were used this recently: somebody may be copying them. */
const KEPT_MS = 60 * 60 * 1000;

export interface TemplateCacheOptions {
  /** Made when it does not exist. */
  folder: string;
  owner: ProcessOwner;
  /** Ends the waiting for another process. */
  signal?: AbortSignal;
}

/**
 * Prepared realms, each a folder under its key. A folder appears by a rename,
 * so it is whole or absent; a lock keeps two processes from doing the same
 * work, but nothing breaks if it fails to.
 */
export class TemplateCache {
  readonly #folder: string;
  readonly #owner: ProcessOwner;
  readonly #signal?: AbortSignal;

  constructor({ folder, owner, signal }: TemplateCacheOptions) {
    this.#folder = folder;
    this.#owner = owner;
    this.#signal = signal;
  }

  /**
   * Copies the prepared realm of this key into a folder.
   *
   * @param build - makes it, when there is none, and returns the folder
   */
  async copyTo(
    target: string,
    key: string,
    build: () => Promise<string>,
  ): Promise<void> {
    const template = join(this.#folder, key);
    if (!(await exists(template))) {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const lock = await FileLock.acquire(
        join(this.#folder, `${key}.lock`),
        this.#signal,
      );
      try {
        if (!(await exists(template))) {
          await this.#keep(await build(), template);
        }
      } finally {
        await lock.release();
      }
    }
    const now = new Date();
    await utimes(template, now, now);
    await this.#copy(template, target);
  }

  async #keep(built: string, template: string): Promise<void> {
    const partial = `${template}.${process.pid}.partial`;
    try {
      await this.#copy(built, partial);
      await rename(partial, template);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
    await this.#prune();
  }

  async #copy(from: string, to: string): Promise<void> {
    await mkdir(to, { recursive: true, mode: 0o700 });
    await this.#owner.run({
      program: 'cp',
      args: [
        '-R',
        '--preserve=mode,timestamps',
        '--sparse=always',
        '--',
        `${from}/.`,
        to,
      ],
    });
  }

  async #prune(): Promise<void> {
    const names = await readdir(this.#folder);
    const used = await Promise.all(
      names
        .filter(name => !name.endsWith('.lock'))
        .map(name => join(this.#folder, name))
        .map(async path => ({ path, time: await lastUse(path) })),
    );
    const old = used
      .sort((a, b) => b.time - a.time)
      .slice(KEPT)
      .filter(({ time }) => time < Date.now() - KEPT_MS);
    await Promise.all(
      old.map(({ path }) => rm(path, { recursive: true, force: true })),
    );
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

async function lastUse(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0; // another process has just removed it
  }
}

/**
 * A name for all that determines a prepared realm: the options that fill it,
 * the content of the LDIF file, this package's own sources, the generator's
 * library, the build of the directory server.
 */
export async function templateKey(options: ResolvedOptions): Promise<string> {
  const { users, seed, schema, ldif } = options;
  const hash = createHash('sha256');
  const content = ldif
    ? { schema, ldif: await digest(ldif) }
    : { schema, users, seed };
  hash.update(JSON.stringify(content));
  hash.update(await readFile(findProgram('ns-slapd') ?? '/dev/null'));
  hash.update(await readFile(require.resolve('@faker-js/faker/package.json')));
  for (const folder of ['src', 'schema']) {
    const names = await readdir(join(PACKAGE_FOLDER, folder), {
      recursive: true,
    });
    for (const name of names.filter(isSource).sort()) {
      hash
        .update(name)
        .update(await readFile(join(PACKAGE_FOLDER, folder, name)));
    }
  }
  const kind = ldif ? 'ldif' : String(users);
  return `${schema}-${kind}-${hash.digest('hex').slice(0, 20)}`;
}

function isSource(name: string): boolean {
  return /\.(ts|ldif)$/.test(name) && !/(\.test\.ts$|^cli|^testing)/.test(name);
}

async function digest(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) {
      return false;
    }
    throw error;
  }
}

async function isHeld(path: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(path, 'utf8'));
    if (pid > 0) {
      process.kill(pid, 0); // only asks
    }
    return true; // an empty file is being written
  } catch (error) {
    return hasCode(error, 'EPERM'); // alive, somebody else's
  }
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === code;
}
