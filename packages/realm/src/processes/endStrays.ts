import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Ends the processes that have this folder in their command line: `dscreate`
 * starts a server that detaches itself, so it is nobody's child. Only for a
 * folder that nobody else knows of.
 */
export async function endStrays(folder: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter(name =>
    /^\d+$/.test(name),
  )) {
    if ((await commandLine(pid)).includes(folder)) {
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch {
        continue; // it has ended by itself
      }
    }
  }
}

async function commandLine(pid: string): Promise<string> {
  try {
    return await readFile(join('/proc', pid, 'cmdline'), 'utf8');
  } catch {
    return ''; // it has ended by itself
  }
}
