// Work that a later run on the same commit continues: `make trials` and
// `make faults`. Each finished part adds a line to FOLDER/progress.jsonl; parts
// that succeeded are not repeated. Ctrl-C stops the running command.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

export const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

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

/**
 * Opens the progress of a commit.
 *
 * @returns a function that returns the line of a part: that of an earlier run,
 *   or of its work, to which it adds the duration in seconds. Lines with an
 *   `error` are not reused; `isKnown` marks those that are.
 */
export function openProgress(folder, commit) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'progress.jsonl');
  appendFileSync(file, '');
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
    .filter(line => line.commit === commit && !line.error);
  return async (key, work) => {
    const known = lines.find(line => line.key === key);
    if (known) {
      return { ...known, isKnown: true };
    }
    const started = Date.now();
    const result = await work();
    const seconds = Math.round((Date.now() - started) / 1000);
    const line = { key, ...result, seconds, commit };
    if (!interrupted.aborted) {
      lines.push(line);
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    }
    return line;
  };
}
