import { access, constants, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';

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
