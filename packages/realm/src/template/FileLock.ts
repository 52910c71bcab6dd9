import { readFile, rm, writeFile } from 'node:fs/promises';
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
