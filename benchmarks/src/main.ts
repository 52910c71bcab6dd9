import {
  freePorts,
  PostgresServer,
  startRealm,
  type Realm,
} from '@directory-gateway/realm';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CREDENTIALS } from './credentials';
import { measureRow, type RowResult } from './measureRow';
import { measureMixedLoad } from './mixedLoad';
import { MeasuredPortal, ROOT, type Values } from './MeasuredPortal';
import { readNames, rowsFor } from './rows';
import {
  formatTables,
  missedPromises,
  replaceTables,
  type Results,
} from './tables';

/*
 * `make bench`: measures the portal, writes the results, and with RECORD=1 the
 * tables of docs/performance.md; see benchmarks/README.md.
 */

/** Number of users who send the requests of rows. */
const CALLERS = 64;
/** Minutes of the mixed load with SQLite. */
const SHORT_MINUTES = 1;
const RESULTS = join(ROOT, 'benchmarks/results.json');
const DOCUMENT = join(ROOT, 'docs/performance.md');

const users = readCount('USERS', 20_000);
const minutes = readCount('MINUTES', 10);
const restMinutes = readCount('REST', 1);
const maxRounds = readCount('ROUNDS', 16);
/** Selects rows by their titles, `sizing` and `load`. */
const only = new RegExp(process.env.ONLY ?? '');
const isSizing = only.test('sizing');
const isLoad = isSizing || only.test('load');

main().catch(error => {
  log(error.stack ?? error);
  // Requests under load may be pending.
  process.exit(1);
});

async function main(): Promise<void> {
  const machine = `${cpus().length} × ${cpus()[0].model.trim()}, Node.js ${
    process.version
  }, load average ${loadavg()[0].toFixed(1)} before`;
  const realm = await startRealm({ users, accessLog: 'buffered' });
  const rows: RowResult[] = [];
  const portals: Record<string, Values> = {};
  try {
    if (only.source !== 'load') {
      portals.SQLite = await measurePortal(realm, rows);
    }
    if (isLoad) {
      const postgres = await PostgresServer.start();
      portals.PostgreSQL = await measurePortal(realm, rows, postgres);
    }
  } finally {
    await realm.stop();
  }
  const { DATE: date = '', COMMIT: commit = '' } = process.env;
  report({ date, commit, users, machine, rows, portals });
}

/** Measures a portal, and its rows if it has SQLite in memory. */
async function measurePortal(
  realm: Realm,
  rows: RowResult[],
  postgres?: PostgresServer,
): Promise<Values> {
  const [port] = await freePorts(1);
  const portal = new MeasuredPortal(realm, port, postgres);
  try {
    log(`filling the catalog of ${postgres ? 'PostgreSQL' : 'SQLite'}`);
    const values: Record<string, number | undefined> = {
      'catalog filled, s': await portal.untilIdle(),
    };
    const names = await readNames(portal);
    if (isSizing) {
      log('at rest');
      const rest = async () => {
        await sleep(restMinutes * 60_000);
        return { 'minutes at rest': restMinutes };
      };
      Object.assign(values, await portal.observe('at rest', rest));
    }
    if (isSizing || postgres) {
      log('mixed load');
      const ofLoad = postgres ? minutes : SHORT_MINUTES;
      const load = () => measureMixedLoad({ portal, names, minutes: ofLoad });
      Object.assign(values, await portal.observe('under load', load));
    }
    for (const row of postgres ? [] : rowsFor(names)) {
      for (const credential of row.credentials ?? CREDENTIALS) {
        const title = `${row.name} by ${credential}`;
        if (only.test(title)) {
          log(title);
          const callers = names.callers.slice(0, CALLERS);
          const common = { portal, callers, maxRounds };
          rows.push(await measureRow({ ...common, row, credential }));
        }
      }
    }
    const { highestRssBytes } = await portal.usage();
    values['highest RSS, MiB'] = highestRssBytes / 2 ** 20;
    return values;
  } finally {
    await portal.stop();
    await postgres?.stop();
  }
}

function report(results: Results): void {
  writeFileSync(RESULTS, `${JSON.stringify(results, undefined, 2)}\n`);
  process.stdout.write(`\n${formatTables(results)}\n\nResults: ${RESULTS}\n`);
  if (process.env.RECORD) {
    const text = readFileSync(DOCUMENT, 'utf8');
    writeFileSync(DOCUMENT, replaceTables(text, results));
  }
  const missed = isLoad ? missedPromises(results) : [];
  missed.forEach(title => log(`promise not kept: ${title}`));
  process.exitCode = missed.length > 0 ? 1 : 0;
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
