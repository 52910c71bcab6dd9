import { cpus, loadavg, release, totalmem } from 'node:os';

/**
 * Reads an environment variable.
 *
 * @throws Error when the value is not a positive integer
 */
export function readCount(name: string, fallback: number): number {
  const text = process.env[name] || `${fallback}`;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new Error(`${name} must be a positive integer, not '${text}'`);
  }
  return count;
}

const interrupted = new AbortController();

/** Aborted when the program is interrupted, for example by Ctrl-C. */
export const { signal } = interrupted;

/**
 * Runs a program. Reports its error and sets the exit code; an interruption is
 * not reported.
 */
export function runProgram(
  main: () => Promise<void>,
  log: (line: string) => void,
): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => interrupted.abort());
  }
  main().catch(error => {
    if (!signal.aborted) {
      log(
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      );
    }
    process.exitCode = 1;
  });
}

/** Returns what the results contain about the machine. */
export function describeMachine() {
  const all = cpus();
  return {
    cpus: all.length,
    cpu: all[0].model.trim(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load_before: Number(loadavg()[0].toFixed(2)),
  };
}
