// Ends the servers of a process that has exited or was killed. processes.ts
// writes the private folders of the servers to standard input, one a line. When
// it closes, all processes that name one of the folders in their command line
// are ended, and the folders are removed.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

/** Time for an orderly end, in milliseconds; then processes are killed. */
const TIMEOUT_MS = 2000;

const folders = (await text(process.stdin)).split('\n').filter(Boolean);

const deadline = Date.now() + TIMEOUT_MS;
let signal = 'SIGTERM';
while (readdirSync('/proc').filter(endProcess).length > 0) {
  await setTimeout(50);
  signal = Date.now() < deadline ? 0 : 'SIGKILL';
}
for (const folder of folders) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  // A killed directory server leaves its semaphore behind.
  const semaphore = `/dev/shm/sem.slapd-${basename(folder)}.stats`;
  rmSync(semaphore, { force: true });
}

/** Sends the signal to a process of the folders; returns whether it did. */
function endProcess(pid) {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const isOurs = folders.some(folder => command.includes(folder));
    return isOurs && process.kill(Number(pid), signal);
  } catch {
    return false; // not a process, or it has exited
  }
}
