// Ends the programs of a process that has exited or was killed. processes.ts
// passes the value of REALM_SUPERVISOR in their environment as the argument, and
// writes its private folders to standard input, one a line. When that closes,
// the programs are ended, and the folders are removed.

import { globSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

/** Time for an orderly end, in milliseconds; then processes are killed. */
const TIMEOUT_MS = 2000;

const [id] = process.argv.slice(2);
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

/** Sends the signal to one of the programs; returns whether it did. */
function endProcess(pid) {
  try {
    const isOurs = read(pid, 'environ').includes(id) || isNewServer(pid);
    return isOurs && process.kill(Number(pid), signal);
  } catch {
    return false; // not a process, or it has exited
  }
}

/** Whether dscreate started a process, which it does without an environment. */
function isNewServer(pid) {
  const command = read(pid, 'cmdline');
  return folders
    .filter(folder => command.includes(folder))
    .flatMap(folder => globSync(`${folder}/instance/**/*.pid`))
    .some(file => readFileSync(file, 'utf8').trim() === pid);
}

function read(pid, file) {
  return readFileSync(`/proc/${pid}/${file}`, 'utf8');
}
