import { constants, open } from 'node:fs/promises';
import { isError } from '@backstage/errors';
import { KeyRefusedError } from './KeyRefusedError';

/** Anything for the group or for others. */
const SHARED = 0o077;

/**
 * Reads a file that nobody else may read: the portal's own user alone.
 *
 * @returns `undefined` when it is not there
 * @throws KeyRefusedError when others may read or write it, or it cannot be
 *   read.
 */
export async function readPrivateFile(
  path: string,
): Promise<string | undefined> {
  try {
    // A FIFO would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Of the open file, not of its name: that may be another by now.
      const stats = await file.stat();
      if (!stats.isFile()) {
        throw new KeyRefusedError(`${path} is not a file`);
      }
      if ((stats.mode & SHARED) !== 0) {
        const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
        throw new KeyRefusedError(
          `${path} may be used by others (mode ${mode}): chmod 600 it, and think about who has read it`,
        );
      }
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isError(error) && error.code === 'ENOENT') {
      return undefined;
    }
    throw error instanceof KeyRefusedError
      ? error
      : new KeyRefusedError(`${path} cannot be read`, error);
  }
}
