import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { DirectoryClient } from '../DirectoryClient';
import type { Drawn } from '../questions/Question';

/**
 * Asks the directory the drawn questions one after another.
 *
 * @returns the times in nanoseconds; `undefined` when it knows nothing of them
 * @throws Error when the directory answers something else than the gateway
 * would have to
 */
export async function askDirectory(options: {
  readonly directory: DirectoryClient;
  readonly draw: () => Drawn;
  /** For so long, and so often, at least. */
  readonly ms: number;
  readonly atLeast: number;
  readonly signal: AbortSignal;
}): Promise<RecordableHistogram | undefined> {
  const { directory, draw, ms, atLeast, signal } = options;
  const latencies = createHistogram();
  const start = performance.now();
  while (latencies.count < atLeast || performance.now() - start < ms) {
    signal.throwIfAborted();
    const drawn = draw();
    if (!drawn.ask) {
      return undefined;
    }
    const { path, entries } = drawn;
    const sent = process.hrtime.bigint();
    const found = await drawn.ask(directory);
    latencies.record(process.hrtime.bigint() - sent);
    if (found.length !== entries) {
      throw new Error(
        `The directory has ${found.length} entries, not ${entries}, for ${path}`,
      );
    }
  }
  return latencies;
}
