// Ends the servers of a process that has exited or was killed. Started by
// processes.ts, whose process holds the other end of standard input and writes
// the private folder of each server, one a line. When standard input closes, all
// processes that name one of the folders in their command line are ended, and
// the folders are removed.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

/** Time for an orderly end, in milliseconds; then processes are killed. */
const PATIENCE_MS = 2000;

const folders = (await text(process.stdin)).split('\n').filter(Boolean);

const deadline = Date.now() + PATIENCE_MS;
let signal = 'SIGTERM';
while (signalAll(signal) > 0) {
  await setTimeout(50);
  signal = Date.now() < deadline ? 0 : 'SIGKILL';
}
for (const folder of folders) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  // A killed directory server leaves its semaphore behind.
  const semaphore = `/dev/shm/sem.slapd-${basename(folder)}.stats`;
  rmSync(semaphore, { force: true });
}

/** Sends a signal to all processes of the folders; returns their number. */
function signalAll(name) {
  const pids = readdirSync('/proc').filter(pid => /^\d+$/.test(pid));
  const named = pids.filter(pid => {
    const command = commandLine(pid);
    return folders.some(folder => command.includes(folder));
  });
  for (const pid of named) {
    try {
      process.kill(Number(pid), name);
    } catch {
      continue; // it has exited
    }
  }
  return named.length;
}

function commandLine(pid) {
  try {
    return readFileSync(join('/proc', pid, 'cmdline'), 'utf8');
  } catch {
    return ''; // it has exited
  }
}
