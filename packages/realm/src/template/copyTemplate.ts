import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findProgram, type ProcessOwner } from '../processes/ProcessOwner';
import { PACKAGE_FOLDER, type ResolvedOptions } from '../RealmOptions';

const POLL_MS = 100;

/** Number of templates that are kept, the most recently used ones. */
const MAX_TEMPLATES = 8;

/**
 * Templates used within this time are kept, too: a process may be copying them.
 */
const MIN_AGE_MS = 60 * 60 * 1000;

export interface CopyOptions {
  /** Folder of the templates; created if missing. */
  cacheDir: string;
  /** Name of the template. */
  key: string;
  /** Folder to copy it to. */
  target: string;
  /** Creates a missing template, and returns its folder. */
  build: () => Promise<string>;
  owner: ProcessOwner;
  /** Aborts the wait for a build of another process. */
  signal?: AbortSignal;
}

/**
 * Copies a template: a prepared realm in a folder that is named after its key.
 * The folder is created by a rename, so it is always complete. The lock only
 * prevents processes from building the same template twice.
 */
export async function copyTemplate(options: CopyOptions): Promise<void> {
  const { cacheDir, key, target, build, owner, signal } = options;
  const template = join(cacheDir, key);
  if (!existsSync(template)) {
    await mkdir(cacheDir, { recursive: true, mode: 0o700 });
    const lock = `${template}.lock`;
    await acquireLock(lock, signal);
    try {
      if (!existsSync(template)) {
        await addTemplate(await build(), template, owner);
        await removeOldTemplates(cacheDir);
      }
    } finally {
      await rm(lock, { force: true });
    }
  }
  const now = new Date();
  await utimes(template, now, now);
  await copy(template, target, owner);
}

async function addTemplate(
  built: string,
  template: string,
  owner: ProcessOwner,
): Promise<void> {
  const partial = `${template}.${process.pid}.partial`;
  try {
    await copy(built, partial, owner);
    await rename(partial, template);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Copies a folder, without the holes of its sparse databases. */
async function copy(
  from: string,
  to: string,
  owner: ProcessOwner,
): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  await owner.run({
    program: 'cp',
    args: [
      ...['-R', '--preserve=mode,timestamps', '--sparse=always'],
      ...['--', `${from}/.`, to],
    ],
  });
}

async function removeOldTemplates(cacheDir: string): Promise<void> {
  const names = await readdir(cacheDir);
  const templates = await Promise.all(
    names
      .filter(name => !name.endsWith('.lock'))
      .map(name => join(cacheDir, name))
      .map(async path => {
        const stats = await stat(path).catch(() => undefined);
        return { path, usedAt: stats?.mtimeMs ?? 0 };
      }),
  );
  const old = templates
    .sort((a, b) => b.usedAt - a.usedAt)
    .slice(MAX_TEMPLATES)
    .filter(({ usedAt }) => usedAt < Date.now() - MIN_AGE_MS);
  for (const { path } of old) {
    await rm(path, { recursive: true, force: true });
  }
}

/**
 * Creates a link to the process ID, which is never empty, unlike a file;
 * replaces that of a process that has exited.
 */
async function acquireLock(path: string, signal?: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await symlink(String(process.pid), path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    }
    const pid = await readlink(path).catch(({ code }) =>
      // EINVAL: not a link. ENOENT: the lock was just released.
      code === 'EINVAL' ? '0' : 'self',
    );
    if (existsSync(`/proc/${pid}`)) {
      await setTimeout(POLL_MS, undefined, { signal });
    } else {
      await rm(path, { force: true });
    }
  }
}

/**
 * Returns a name that depends on the inputs of a template: the options, the
 * LDIF file, the sources of this package, the version of the generator's
 * library and the program of the directory server.
 */
export async function templateKey(options: ResolvedOptions): Promise<string> {
  const { users, schema, demo, ldif } = options;
  const hash = createHash('sha256');
  const content = ldif
    ? { schema, ldif: await digest(ldif) }
    : { schema, users, demo };
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

/** Excludes tests and code that only runs or replicates a complete realm. */
function isSource(name: string): boolean {
  return (
    /\.(ts|ldif)$/.test(name) &&
    !/(\.test\.ts$|^cli|^index|^__testUtils__|^replication|^servers)/.test(name)
  );
}

async function digest(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
