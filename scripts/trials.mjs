// Runs long trials: `*.trial.test.ts`, tests of `make test` with higher counts,
// and the times of writes under load.
//
//   node scripts/trials.mjs          every unfinished trial
//
// Variables: ONLY=crash,answers selects trials; KILLS, MINUTES, RUNS, USERS,
// OUTAGE_SECONDS, FAULTS, HOLD_FAULTS, WRITES, CUTS, RESTARTS, ROUNDS, SEARCHES,
// and REQUESTS change their size.
//
// A trial consists of shards of a few minutes. Each finished shard adds a line
// to .build/trials/progress.jsonl; the next run on the same commit skips shards
// that passed with the same size. Ctrl-C stops the running shard.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interrupted, run } from './interruptible.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, '.build/trials');
const progressFile = join(folder, 'progress.jsonl');
const report = join(folder, 'report.json');

const size = (name, fallback) => Number(process.env[name] || fallback);
const kills = size('KILLS', 100);
const minutes = size('MINUTES', 20);
const runs = size('RUNS', 50);
const users = size('USERS', 20_000);
const faults = size('FAULTS', 100);
const holdFaults = size('HOLD_FAULTS', 100);
const writes = size('WRITES', 10_000);
const cuts = size('CUTS', 100);
const restarts = size('RESTARTS', 20);
const outageSeconds = size('OUTAGE_SECONDS', 30);

/** Number of kills in a shard. */
const KILLS = 25;
/** Duration in minutes of a shard of `answers`. */
const MINUTES = 5;
/**
 * Factor for the number of random cases of property tests in a shard;
 * scripts/random-cases.cjs applies it.
 */
const RUNS = 10;

/** Number of repetitions of each fault of the directory in a shard. */
const FAULTS = 10;
/** Number of repetitions of the faults of certificate holds in a shard. */
const HOLD_FAULTS = 10;
/** Number of writes to the directory in a shard. */
const WRITES = 500;

/** Splits a total into shards of at most `most`. */
function shardsOf(total, most) {
  const count = Math.ceil(total / most);
  return Array.from({ length: count }, (_, index) =>
    Math.min(most, total - index * most),
  );
}

const git = (...args) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

const tests = (command, files) => ({
  command: [
    'yarn',
    ...command,
    '--watchAll=false',
    `--setupFiles=${join(root, 'scripts/random-cases.cjs')}`,
    '--json',
    `--outputFile=${report}`,
    ...files,
  ],
  count: async () => {
    const result = JSON.parse(await readFile(report, 'utf8'));
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    };
  },
});

const jest = (workspace, ...files) =>
  tests(
    [
      ...['workspace', `@directory-gateway/${workspace}`, 'test'],
      `--maxWorkers=${files.length}`,
    ],
    files,
  );

const backend = 'backstage-plugin-directory-backend';
const fuzz = (factor = 1) =>
  shardsOf(runs, RUNS).map(count => ({ RUNS: factor * count }));

/** Names of trials, their commands and the variables of their shards. */
const trials = {
  crash: {
    ...jest(backend, 'src/certificates/crash.trial.test.ts'),
    shards: shardsOf(kills, KILLS).map(count => ({ KILLS: count })),
  },
  organization: {
    ...jest(
      backend,
      'src/__tests__/catalog.faults.integration.test.ts',
      'src/__tests__/catalog.kills.trial.test.ts',
    ),
    shards: shardsOf(faults, FAULTS).map(count => ({ FAULTS: count })),
  },
  'step-ca': {
    ...jest(`${backend}-module-step-ca`, 'src/stepCa.trial.test.ts'),
    shards: [{ CUTS: cuts }],
  },
  recovery: {
    ...jest(backend, 'src/__tests__/catalog.recovery.trial.test.ts'),
    shards: [{}],
  },
  holds: {
    ...jest(backend, 'src/certificates/holds.integration.test.ts'),
    shards: shardsOf(holdFaults, HOLD_FAULTS).map(count => ({
      HOLD_FAULTS: count,
    })),
  },
  changes: {
    ...jest(backend, 'src/changes/changes.integration.test.ts'),
    shards: shardsOf(writes, WRITES).map((count, index) => ({
      WRITES: count,
      RESTARTS: Math.max(1, Math.round((restarts * count) / writes)),
      // Each shard makes different changes.
      SEED: WRITES * index + size('SEED', 1),
    })),
  },
  handover: {
    ...jest(backend, 'src/changes/handover.trial.test.ts'),
    shards: [{}],
  },
  answers: {
    ...jest(backend, 'src/http/answers.trial.test.ts'),
    shards: shardsOf(minutes, MINUTES).map((count, index) => ({
      MINUTES: count,
      // Each shard makes different changes.
      SEED: 1000 * index + size('SEED', 1),
    })),
  },
  outages: {
    ...jest(backend, 'src/http/availability.integration.test.ts'),
    shards: [{ OUTAGE_SECONDS: outageSeconds, USERS: users }],
  },
  start: {
    ...jest(backend, 'src/__tests__/start.integration.test.ts'),
    shards: [{ USERS: users }],
  },
  doctor: {
    ...jest(backend, 'src/doctor/doctor.integration.test.ts'),
    shards: [{ ALL_FAULTS: 1 }],
  },
  size: {
    ...jest('ldap', 'src/replica/ReplicaDirectory.size.trial.test.ts'),
    shards: [{}],
  },
  searches: {
    ...jest(
      'ldap',
      'src/replica/ReplicaDirectory.integration.test.ts',
      'src/replica/NaiveDirectory.integration.test.ts',
    ),
    shards: [{ SEARCHES: size('SEARCHES', 4000) }],
  },
  privacy: {
    ...jest(backend, 'src/http/privacy.integration.test.ts'),
    shards: [{ REQUESTS: size('REQUESTS', 500) }],
  },
  replica: {
    ...jest('ldap', 'src/replica/StricterValues.trial.test.ts'),
    shards: [{}],
  },
  writes: {
    ...jest('ldap', 'src/replica/Replica.writes.integration.test.ts'),
    shards: [{ ROUNDS: size('ROUNDS', 5) }],
  },
  switch: {
    ...jest(backend, 'src/http/serverSwitch.integration.test.ts'),
    shards: [{ USERS: users }],
  },
  realm: {
    ...jest('realm', '.trial.test.ts'),
    shards: [{}],
  },
  accessibility: {
    command: ['scripts/browser', 'tests', 'accessibility.test.ts'],
    shards: [{ ALL_APPEARANCES: 1 }],
  },
  properties: {
    ...tests(
      ['backstage-cli', 'repo', 'test', '--testTimeout=3600000'],
      git('grep', '-l', "from 'fast-check'", '*.test.ts', '*.test.tsx')
        .split('\n')
        .filter(file => !/\.(integration|trial)\.test\./.test(file)),
    ),
    shards: fuzz(),
  },
  'fuzz-csr': {
    ...jest('x509', 'src/request/fuzz.test.ts'),
    shards: fuzz(20),
  },
  'fuzz-spnego': {
    ...jest('kerberos', 'src/SpnegoAcceptor.integration.test.ts'),
    shards: fuzz(20),
  },
  'fuzz-ldap': {
    ...jest(
      'ldap',
      'src/connection/LdapConnection.corruption.integration.test.ts',
    ),
    shards: fuzz(),
  },
  promises: {
    command: ['benchmarks/run'],
    shards: [{ ONLY: 'load', USERS: users, MINUTES: 2, CLIENTS: 4 }],
  },
};

const chosen = (process.env.ONLY || Object.keys(trials).join()).split(',');
const unknown = chosen.filter(name => !Object.hasOwn(trials, name));
if (unknown.length > 0) {
  const known = Object.keys(trials).join(', ');
  console.error(`Unknown trial ${unknown.join(', ')}. Trials: ${known}`);
  process.exit(2);
}

// Uncommitted changes have no commit id: their shards are not skipped.
const commit =
  git('rev-parse', 'HEAD') + (git('status', '--porcelain') ? '-dirty' : '');

await mkdir(folder, { recursive: true });
const finished = new Set(
  existsSync(progressFile)
    ? (await readFile(progressFile, 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line))
        .filter(({ failed }) => failed === 0)
        .map(identify)
    : [],
);

function identify(shard) {
  return JSON.stringify([shard.commit, shard.name, shard.shard, shard.size]);
}

/** Runs one shard and returns its line for the progress file. */
async function runShard(name, shard) {
  const { command, count, shards } = trials[name];
  await rm(report, { force: true });
  const started = Date.now();
  const code = await run(command, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...Object.fromEntries(
        Object.entries(shards[shard]).map(([key, value]) => [key, `${value}`]),
      ),
    },
  });
  const counted = count
    ? await count().catch(() => ({ passed: 0, failed: 0 }))
    : { passed: code === 0 ? 1 : 0, failed: 0 };
  if (counted.failed === 0 && (code !== 0 || counted.passed === 0)) {
    counted.failed = 1;
  }
  return {
    name,
    shard,
    size: shards[shard],
    ...counted,
    seconds: Math.round((Date.now() - started) / 1000),
    commit,
  };
}

const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of chosen) {
  const { shards } = trials[name];
  for (const [shard, values] of shards.entries()) {
    const label = `${name} ${shard + 1} of ${shards.length}`;
    const isFinished =
      !commit.endsWith('-dirty') &&
      finished.has(identify({ commit, name, shard, size: values }));
    if (interrupted.aborted || isFinished) {
      total.skipped += interrupted.aborted ? 1 : 0;
      console.log(
        `== ${label}: ${interrupted.aborted ? 'skipped' : 'passed before'}`,
      );
      continue;
    }
    console.log(`\n== ${label}: ${JSON.stringify(values)}`);
    const line = await runShard(name, shard);
    if (interrupted.aborted) {
      total.skipped += 1;
      continue;
    }
    await appendFile(progressFile, `${JSON.stringify(line)}\n`);
    total.passed += line.passed;
    total.failed += line.failed;
  }
}

console.log(
  `\n${total.passed} passed, ${total.failed} failed, ${total.skipped} shards skipped`,
);
process.exitCode = interrupted.aborted ? 130 : Number(total.failed > 0);
