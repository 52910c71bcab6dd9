import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder, removeFolder, run } from './processes';
import { PACKAGE_FOLDER } from './realmFiles';

/** Folder of the templates, at the root of the repository. */
const CACHE = join(PACKAGE_FOLDER, '../../.cache/realm');

/** Templates that have not been used for this time are removed. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Copies the stopped servers of a realm to a folder. Creates them first if no
 * realm with the same options, by the same sources, was started before.
 *
 * @param options - everything that the files depend on, without paths
 * @param build - creates the files in an empty folder
 */
export async function copyTemplate(
  target: string,
  options: object,
  build: (folder: string) => Promise<void>,
): Promise<void> {
  const template = join(CACHE, await templateName(options));
  if (!existsSync(template)) {
    await mkdir(CACHE, { recursive: true, mode: 0o700 });
    const unlock = await lock(join(CACHE, 'lock'));
    try {
      if (!existsSync(template)) {
        await removeOldTemplates();
        await addTemplate(template, build);
      }
    } finally {
      unlock();
    }
  }
  const now = new Date();
  await utimes(template, now, now);
  await copy(template, target);
}

async function addTemplate(
  template: string,
  build: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await createFolder('realm-build-');
  try {
    await build(folder);
    const partial = `${template}.partial`;
    await copy(folder, partial);
    await rename(partial, template);
  } finally {
    await removeFolder(folder);
  }
}

/** Copies a folder, without the holes of its sparse databases. */
async function copy(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  const args = ['-R', '--preserve=mode,timestamps', '--sparse=always'];
  await run({ program: 'cp', args: [...args, '--', from, to] });
}

/**
 * Waits for a lock, which the kernel releases when this process ends: `flock`
 * holds it until its standard input closes.
 *
 * @returns a function that releases the lock
 */
async function lock(file: string): Promise<() => void> {
  const holder = spawn('flock', [file, 'sh', '-c', 'echo locked; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [locked] = await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'exit').then(() => [undefined]),
  ]);
  if (!locked) {
    throw new Error(`flock cannot lock ${file}`);
  }
  return () => holder.stdin.end();
}

async function removeOldTemplates(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    if (
      name !== 'lock' &&
      (await stat(path)).mtimeMs < Date.now() - MAX_AGE_MS
    ) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** Returns a hash of the options, the sources and the server's version. */
async function templateName(options: object): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(options));
  hash.update(await readFile('/usr/share/dirsrv/inf/defaults.inf'));
  for (const folder of ['src', 'data']) {
    const path = join(PACKAGE_FOLDER, folder);
    const names = await readdir(path, { recursive: true });
    for (const name of names.filter(isSource).sort()) {
      hash.update(name).update(await readFile(join(path, name)));
    }
  }
  return hash.digest('hex').slice(0, 20);
}

function isSource(name: string): boolean {
  return /\.(ts|ldif)$/.test(name) && !/test/i.test(name);
}
