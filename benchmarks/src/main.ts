import {
  freePorts,
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Credentials } from './Credentials';
import { measureRow, type RowResult } from './measureRow';
import { measureMixedLoad } from './mixedLoad';
import { Portal, ROOT } from './Portal';
import { NO_NAMES, readNames, rowsFor, type Names } from './rows';
import {
  formatTables,
  missedPromises,
  replaceTables,
  type Results,
  type Values,
} from './tables';

/*
 * `make bench`: measures the portal and writes the results. With the argument
 * `tables`, writes the tables of docs/performance.md from the results. See
 * benchmarks/README.md.
 */

/** Only a run with these values is recorded in the repository. */
const RECORDED_USERS = 20_000;
const RECORDED_MINUTES = 10;
/** Minutes of the mixed load with SQLite. */
const SHORT_MINUTES = 1;
/** Users who send requests, and those who are locked. */
const CALLERS = 64;
const LOCKED_USERS = 20;
const RECORDED_RESULTS = join(ROOT, 'benchmarks/results.json');
const OTHER_RESULTS = join(ROOT, '.build/benchmarks/results.json');
const DOCUMENT = join(ROOT, 'docs/performance.md');

const users = readCount('USERS', RECORDED_USERS);
const minutes = readCount('MINUTES', RECORDED_MINUTES);
const restMinutes = readCount('REST', 1);
const maxRounds = readCount('ROUNDS', 16);
/** Selects rows by their titles, `sizing` and `load`. */
const only = new RegExp(process.env.ONLY ?? '');
const isSizing = only.test('sizing');
const isLoad = isSizing || only.test('load');
const interrupted = new AbortController();
const { signal } = interrupted;

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => interrupted.abort());
}
const isTables = process.argv[2] === 'tables';
(isTables ? writeTables() : main()).catch(error => {
  if (!signal.aborted) {
    log(error instanceof Error ? (error.stack ?? error.message) : `${error}`);
  }
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const machine = `${cpus().length} × ${cpus()[0].model.trim()}, Node.js ${
    process.version
  }, load average ${loadavg()[0].toFixed(1)} before`;
  const realm = await startRealm({ users, accessLog: 'buffered', signal });
  const rows: RowResult[] = [];
  const portals: Record<string, Values> = {};
  try {
    if (isSizing || selectRows(NO_NAMES).length > 0) {
      portals.SQLite = await measurePortal(realm, rows);
    }
    if (isLoad) {
      const postgres = await PostgresServer.start();
      try {
        portals.PostgreSQL = await measurePortal(realm, [], postgres);
      } finally {
        await postgres.stop();
      }
    }
  } finally {
    await realm.stop();
  }
  const date = new Date().toISOString().slice(0, 10);
  const command = ['rev-parse', '--short', 'HEAD'];
  const commit = execFileSync('git', command, { cwd: ROOT, encoding: 'utf8' });
  report({ date, commit: commit.trim(), users, machine, rows, portals });
}

/** Measures a portal, and its rows if it has SQLite in memory. */
async function measurePortal(
  realm: Realm,
  rows: RowResult[],
  postgres?: PostgresServer,
): Promise<Values> {
  const [port] = await freePorts(1);
  const portal = new Portal(realm, port, postgres);
  try {
    log(`filling the catalog of ${postgres ? 'PostgreSQL' : 'SQLite'}`);
    const filledSeconds = await portal.untilIdle(signal);
    const names = await readNames(portal);
    const distance = Math.ceil(names.callers.length / (CALLERS + LOCKED_USERS));
    const selected = names.callers.filter((_, at) => at % distance === 0);
    const lockedUsers = selected.slice(0, LOCKED_USERS);
    const callers = selected.slice(LOCKED_USERS);
    const credentials = new Credentials(realm, portal, callers);
    let values: Values = { 'catalog filled, s': filledSeconds };
    if (isSizing) {
      log('at rest');
      const rest = await portal.observe('at rest', async () => {
        await sleep(restMinutes * 60_000, undefined, { signal });
        return { 'minutes at rest': restMinutes };
      });
      values = { ...values, ...rest };
    }
    if (isSizing || postgres) {
      log('mixed load');
      const load = await portal.observe('under load', () =>
        measureMixedLoad({
          realm,
          portal,
          credentials,
          names,
          lockedUsers,
          minutes: postgres ? minutes : Math.min(minutes, SHORT_MINUTES),
          signal,
        }),
      );
      values = { ...values, ...load };
    }
    for (const { row, credential } of postgres ? [] : selectRows(names)) {
      const result = await measureRow({
        row,
        credential,
        credentials,
        portal,
        maxRounds,
        signal,
      });
      log(`${row.name} by ${credential}: ${Math.round(result.rate)}/s`);
      rows.push(result);
    }
    const { highestRssBytes } = await portal.usage();
    return { ...values, 'highest RSS, MiB': highestRssBytes / 2 ** 20 };
  } finally {
    await portal.stop();
  }
}

function selectRows(names: Names) {
  return rowsFor(names)
    .flatMap(row => row.credentials.map(credential => ({ row, credential })))
    .filter(({ row, credential }) => only.test(`${row.name} by ${credential}`));
}

function report(results: Results): void {
  const isRecorded =
    !process.env.ONLY &&
    users === RECORDED_USERS &&
    minutes === RECORDED_MINUTES;
  const file = isRecorded ? RECORDED_RESULTS : OTHER_RESULTS;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
  const tables = Object.values(formatTables(results)).join('\n\n');
  process.stdout.write(`\n${tables}\n\nResults: ${file}\n`);
  const missed = isLoad ? missedPromises(results) : [];
  missed.forEach(title => log(`promise not kept: ${title}`));
  process.exitCode = missed.length > 0 ? 1 : 0;
}

async function writeTables(): Promise<void> {
  const results: Results = JSON.parse(readFileSync(RECORDED_RESULTS, 'utf8'));
  const text = readFileSync(DOCUMENT, 'utf8');
  writeFileSync(DOCUMENT, replaceTables(text, results));
}

/** @throws Error when a variable is not a positive integer */
function readCount(name: string, fallback: number): number {
  const count = Number(process.env[name] || fallback);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new Error(`${name} must be a positive integer`);
  }
  return count;
}

function log(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
