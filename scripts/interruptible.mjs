// Stops the running command, and then the program, on Ctrl-C.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

const interruption = new AbortController();
let running;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => {
    interruption.abort();
    if (running) {
      process.kill(-running.pid, name);
    }
  });
}

/** Aborted by Ctrl-C and similar signals, which also stop the running command. */
export const { signal: interrupted } = interruption;

/**
 * Runs a command and returns its exit code. Commands do not overlap.
 *
 * @param options - options of `spawn`
 */
export async function run([program, ...args], options) {
  running = spawn(program, args, {
    ...options,
    // A process group: it gets Ctrl-C only from the handler above.
    detached: true,
  });
  const [code] = await once(running, 'close');
  running = undefined;
  return code;
}
