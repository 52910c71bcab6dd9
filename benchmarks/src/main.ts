import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { median } from './ClosedLoop';
import { modes, type Mode } from './credentials/credentials';
import {
  measurePortal,
  measureWithoutPlugin,
  type RunOptions,
} from './measurePortal';
import { describeMachine, readCount, runProgram, signal } from './run';
import { BENCHMARKS, GOAL_USERS, settings } from './settings';
import {
  formatPortals,
  formatRow,
  formatRows,
  missedPromises,
  type Results,
} from './tables';
import { withRealm } from './withRealm';

/*
 * `make bench`: measures, prints two tables and writes the results; see
 * benchmarks/README.md.
 */

runProgram(main, log);

async function main(): Promise<void> {
  const { env } = process;
  const options: RunOptions = {
    users: readCount('USERS', GOAL_USERS),
    modes: readModes(env.MODES || modes.join()),
    only: new RegExp(env.ONLY ?? ''),
    profileTo: env.PROFILE || undefined,
    signal,
    onRow: row => log(formatRow(row)),
  };
  const { users } = options;
  const machine = describeMachine();
  const results: Results = await withRealm(options, async measured => {
    log(`the realm has ${measured.people.all.length} users`);
    const { rows, result } = await measurePortal(measured, options);
    const ways = [result];
    if (rows.length > 0 && !options.profileTo) {
      log('the same server without the directory plugin');
      ways.push(
        await measureWithoutPlugin(measured, {
          requests: result.requests,
          signal: options.signal,
        }),
      );
    }
    return { users, machine, settings, ways, rows };
  });
  const isWhole = !env.ONLY && !env.MODES && !env.PROFILE;
  const baseline = readBaseline();
  const file = resultsFile(users, isWhole);
  await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
  const wrong = results.ways.flatMap(({ ages }) => ages?.wrong ?? []);
  const failures = [
    ...wrong.map(text => `Wrong response: ${text}\n`),
    ...missedPromises(results).map(title => `Promise not kept: ${title}\n`),
  ];
  process.exitCode = failures.length > 0 ? 1 : 0;
  process.stdout.write(`
${machine.cpus} × ${machine.cpu}, ${machine.memory_gib} GiB, Node ${
    machine.node
  }, load ${machine.load_before} before.
${noise(results)} % of the portal's CPU was used by other processes.

${formatRows(results.rows, users > GOAL_USERS ? baseline : undefined)}

${formatPortals([results])}

${failures.join('')}Results: ${file}
`);
}

function readModes(text: string): readonly Mode[] {
  const names = text.split(',').map(name => name.trim());
  const unknown = names.find(name => !modes.some(mode => mode === name));
  if (unknown !== undefined) {
    throw new Error(`MODES must be of ${modes.join(', ')}, not '${unknown}'`);
  }
  return modes.filter(mode => names.includes(mode));
}

/** Returns the path of the results; the documents use only complete ones. */
function resultsFile(users: number, isWhole: boolean): string {
  const size = users === GOAL_USERS ? '' : `-${users}`;
  return join(BENCHMARKS, `results${isWhole ? size : '-partial'}.json`);
}

function readBaseline(): Results | undefined {
  const file = resultsFile(GOAL_USERS, true);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Returns the median of the rows in percent. */
function noise({ rows }: Results): string {
  return rows.length === 0
    ? '?'
    : (100 * median(rows.map(row => row.noise_cpu))).toFixed(0);
}

function log(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
