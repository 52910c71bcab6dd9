import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeMachine } from './describeMachine';
import { BENCH } from './folders';
import { readOptions } from './readOptions';
import { median } from './rows/median';
import type { Row } from './rows/Row';
import { runBench } from './runBench';
import { settings } from './settings';
import { formatRows } from './table/formatRows';
import { formatWays } from './table/formatWays';
import { wayGoals } from './ways/wayGoals';
import type { WayResult } from './ways/WayResult';

/*
 * `make bench`: measures, prints two tables and writes bench/results.json.
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
  const { rows, ways } = await runBench({ ...options, signal, tell });
  const results = { machine, settings, ways, rows };
  await writeFile(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  const { portalCpu, generatorCpu, connections, rounds } = settings;
  process.stdout.write(`
${machine.cpus} × ${machine.cpu}, ${machine.memory_gib} GiB, Node ${
    machine.node
  }, load ${machine.load_before} before.
The portal's production build alone on CPU ${portalCpu}, its request log (info, JSON) to a file;
load generator, directory (389 DS, LDAPS, buffered access log) and KDC on CPU ${generatorCpu}.
Requests/s, "load", CPU and loop: ${connections} connections, median of ${rounds} rounds; p50, p99: one connection.
Milliseconds. "LDAP": the same request to the directory itself.
"session": a cookie, got for a ticket; "negotiate": a fresh Kerberos token on every request;
"token": a portal token.

${formatRows(rows)}

${formatWays(ways, wayGoals(options.users))}

Times from the start of the portal's process; memory after a forced collection.
Noise: ${noise(rows)} % of CPU ${portalCpu} went to others than the portal.
${complaints(ways)}`);
}

/** Wrong answers are told, and make the run fail. */
function complaints(ways: readonly WayResult[]): string {
  const wrong = ways.flatMap(({ ages }) => ages?.wrong ?? []);
  if (wrong.length > 0) {
    process.exitCode = 1;
  }
  return wrong.map(text => `Wrong: ${text}\n`).join('');
}

function tell(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

/** The median over the rows, in percent. */
function noise(rows: readonly Row[]): string {
  return rows.length === 0
    ? '?'
    : (100 * median(rows.map(row => row.noise_cpu))).toFixed(0);
}
