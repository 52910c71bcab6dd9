import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessOwner } from '../processes/ProcessOwner';
import { FileLock } from './FileLock';

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
