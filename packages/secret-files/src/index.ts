/**
 * Reads keys and passwords from files that other users cannot read.
 *
 * @packageDocumentation
 */

import { constants, open, type FileHandle } from 'node:fs/promises';

/**
 * A file with a secret has permissions that expose it, or is not a regular
 * file. The message contains the path and the fix.
 *
 * @public
 */
export class SecretFileError extends Error {
  /** Name of the error. */
  name = 'SecretFileError' as const;
}

/** Write and execute for the group, everything for other users. */
const EXPOSED = 0o037;

/** Everything for the group and for other users. */
const SHARED = 0o077;

/**
 * Reads a file with a secret.
 *
 * @param options - `groupMayRead`: whether the file's group may read it, as in
 *   mode 0640 for `root` and the portal's group. Default: true.
 * @throws SecretFileError when other users can read or write the file.
 * @throws Error of the file system, with its `code`, such as `ENOENT`.
 * @public
 */
export async function readSecretFile(
  path: string,
  options: { readonly groupMayRead?: boolean } = {},
): Promise<Buffer> {
  const file = await openWithoutWaiting(path);
  try {
    await requirePrivate(file, { path, ...options });
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/**
 * Checks the permissions of a file with a secret that a library reads. A file
 * that does not exist or cannot be opened passes.
 *
 * @param options - `key`: the configuration key that names the file, for the
 *   message
 * @throws SecretFileError when other users can read or write the file.
 * @public
 */
export async function checkSecretFile(
  path: string,
  options: { readonly key: string },
): Promise<void> {
  const file = await openWithoutWaiting(path).catch(() => undefined);
  if (!file) {
    return;
  }
  try {
    await requirePrivate(file, { path });
  } catch (error) {
    throw error instanceof SecretFileError
      ? new SecretFileError(`${options.key}: ${error.message}`)
      : error;
  } finally {
    await file.close();
  }
}

/** Does not block: a blocking `open` of a FIFO waits for a writer. */
function openWithoutWaiting(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NONBLOCK);
}

/** Checks the open file, because the path may already name another file. */
async function requirePrivate(
  file: FileHandle,
  options: { readonly path: string; readonly groupMayRead?: boolean },
): Promise<void> {
  const { path, groupMayRead = true } = options;
  const stats = await file.stat();
  if (!stats.isFile()) {
    throw new SecretFileError(`${path} is not a regular file`);
  }
  if ((stats.mode & (groupMayRead ? EXPOSED : SHARED)) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
    const fix = groupMayRead
      ? 'chmod 600, or chmod 640 for a group that may read it'
      : 'chmod 600';
    throw new SecretFileError(
      `${path} is accessible to other users (mode ${mode}): run ${fix}, and replace the secret if other users may have read it`,
    );
  }
}
