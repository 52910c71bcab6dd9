import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder, removeFolder, run } from './processes';
import { PACKAGE_FOLDER } from './realmFiles';

/** Templates that have not been used for this time are removed. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Copies the stopped servers of a realm to a folder. Builds them first if no
 * realm with the same options was started by the same sources before.
 */
export async function copyTemplate(options: {
  /** Folder to copy to. */
  readonly target: string;
  /** Everything that the files depend on, without paths. */
  readonly content: object;
  /** Creates the files in an empty folder. */
  readonly build: (folder: string) => Promise<void>;
  /** Folder of the templates. Default: one at the root of the repository. */
  readonly cache?: string;
}): Promise<void> {
  const { target, content, build } = options;
  const { cache = join(PACKAGE_FOLDER, '../../.cache/realm') } = options;
  const template = join(cache, await templateName(content));
  if (!existsSync(template)) {
    await fs.mkdir(cache, { recursive: true, mode: 0o700 });
    const unlock = await lock(join(cache, 'lock'));
    const folder = await createFolder('realm-build-');
    try {
      if (!existsSync(template)) {
        await removeOldTemplates(cache);
        await build(folder);
        await copy(folder, `${template}.partial`);
        await fs.rename(`${template}.partial`, template);
      }
    } finally {
      await removeFolder(folder);
      unlock();
    }
  }
  const now = new Date();
  await fs.utimes(template, now, now);
  await copy(template, target);
}

/** Replaces a folder by a copy, without the holes of sparse databases. */
async function copy(from: string, to: string): Promise<void> {
  await fs.rm(to, { recursive: true, force: true });
  const args = ['-R', '--preserve=mode,timestamps', '--sparse=always'];
  await run({ program: 'cp', args: [...args, '--', from, to] });
}

/**
 * Waits for a lock. `flock` holds it until its standard input closes, also when
 * this process is killed.
 *
 * @returns a function that releases the lock
 */
async function lock(file: string): Promise<() => void> {
  const holder = spawn('flock', [file, 'sh', '-c', 'echo locked; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(holder, 'exit').then(([code]) => {
    throw new Error(`flock ${file} failed (${code})`);
  });
  await Promise.race([once(holder.stdout, 'data'), exit]);
  exit.catch(() => {}); // after the release
  return () => holder.stdin.end();
}

async function removeOldTemplates(cache: string): Promise<void> {
  const names = await fs.readdir(cache);
  for (const name of names.filter(file => file !== 'lock')) {
    const { mtimeMs } = await fs.stat(join(cache, name));
    if (mtimeMs < Date.now() - MAX_AGE_MS) {
      await fs.rm(join(cache, name), { recursive: true, force: true });
    }
  }
}

/** Returns a hash of the content, this package and the server's version. */
async function templateName(content: object): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(content));
  hash.update(await fs.readFile('/usr/share/dirsrv/inf/defaults.inf'));
  for (const folder of ['src', 'data', 'schema']) {
    const path = join(PACKAGE_FOLDER, folder);
    const names = await fs.readdir(path, { recursive: true });
    for (const name of names.filter(isSource).sort()) {
      hash.update(name).update(await fs.readFile(join(path, name)));
    }
  }
  return hash.digest('hex').slice(0, 20);
}

function isSource(name: string): boolean {
  return /\.\w+$/.test(name) && !/test|__/.test(name);
}
