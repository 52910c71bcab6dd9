import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeMachine } from './describeMachine';
import { BENCH } from './folders';
import { formatTable } from './formatTable';
import { median } from './median';
import { readOptions } from './readOptions';
import { runBench } from './runBench';
import type { Row } from './Row';
import { settings } from './settings';

/*
 * `make bench`: measures, prints one table and writes bench/results.json.
 * docs/performance.md says how to read it.
 */

const RESULTS = join(BENCH, 'results.json');

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort());
}

main().catch(error => {
  if (!interrupted.signal.aborted) {
    tell(error instanceof Error ? error.stack ?? error.message : String(error));
  }
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const options = readOptions(process.env);
  const machine = describeMachine();
  const { signal } = interrupted;
  const { rows, rss } = await runBench({ ...options, signal, tell });
  const results = { machine, settings, rss, rows };
  await writeFile(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  const { portalCpu, generatorCpu, connections, rounds } = settings;
  process.stdout.write(`
${machine.cpus} × ${machine.cpu}, ${machine.memory_gib} GiB, Node ${
    machine.node
  }, load ${machine.load_before} before.
The portal's production build alone on CPU ${portalCpu}, its request log (info, JSON) to a file;
load generator, directory (389 DS, LDAPS, buffered access log) and KDC on CPU ${generatorCpu}.
Requests/s, "load", CPU and loop: ${connections} connections, median of ${rounds} rounds; p50, p99: one connection.
Milliseconds. "negotiate": a fresh Kerberos token on every request; "token": a portal token.

${formatTable(rows)}

Noise: ${noise(rows)} % of CPU ${portalCpu} went to others than the portal.
Memory of the portal: ${mebibytes(rss.idle)} MiB at start, ${mebibytes(
    rss.loaded,
  )} MiB after.
`);
}

function tell(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

/** The median over the rows, in percent. */
function noise(rows: readonly Row[]): string {
  return (100 * median(rows.map(row => row.noise_cpu))).toFixed(0);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
