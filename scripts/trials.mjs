// Runs long trials: `*.trial.test.ts`, tests of `make test` with higher counts,
// and the times of writes under load.
//
//   node scripts/trials.mjs          every unfinished trial
//
// Variables: ONLY=crash,answers selects trials; KILLS, MINUTES, RUNS, USERS,
// OUTAGE_SECONDS, FAULTS, HOLD_FAULTS, WRITES, CUTS, RESTARTS, ROUNDS, SEARCHES,
// and REQUESTS change their size.
//
// A trial consists of shards of a few minutes. The next run on the same commit
// skips shards that passed with the same size. Ctrl-C stops the running shard.

import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { git, interrupted, openProgress, root, run } from './progress.mjs';

const folder = join(root, '.build/trials');
const report = join(folder, 'report.json');

const size = (name, fallback) => Number(process.env[name] || fallback);
const USERS = size('USERS', 20_000);
const SEED = size('SEED', 1);
const writes = size('WRITES', 10_000);
const restarts = size('RESTARTS', 20);

/** Splits a variable into shards of at most `most`. */
function shardsOf(name, fallback, most) {
  const total = size(name, fallback);
  return Array.from({ length: Math.ceil(total / most) }, (_, index) => ({
    [name]: Math.min(most, total - index * most),
  }));
}

/** Returns a trial that runs test files. */
const tests = (command, files, shards) => ({
  command: [
    'yarn',
    ...command,
    '--watchAll=false',
    `--setupFiles=${join(root, 'scripts/random-cases.cjs')}`,
    '--json',
    `--outputFile=${report}`,
    ...files,
  ],
  shards,
  count: async () => {
    const result = JSON.parse(await readFile(report, 'utf8'));
    return {
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    };
  },
});

const jest = (workspace, files, shards = [{}]) =>
  tests(
    [
      ...['workspace', `@directory-gateway/${workspace}`, 'test'],
      `--maxWorkers=${files.length}`,
    ],
    files,
    shards,
  );

const backend = 'backstage-plugin-directory-backend';
const inBackend = (file, shards) => jest(backend, [`src/${file}`], shards);

/**
 * Shards by the factor for the number of random cases of property tests, which
 * scripts/random-cases.cjs applies.
 */
const fuzz = (factor = 1) =>
  shardsOf('RUNS', 50, 10).map(({ RUNS }) => ({ RUNS: factor * RUNS }));

/** Trials with their commands and the variables of their shards. */
const trials = {
  crash: inBackend(
    'certificates/crash.trial.test.ts',
    shardsOf('KILLS', 100, 25),
  ),
  organization: jest(
    backend,
    [
      'src/__tests__/catalog.faults.integration.test.ts',
      'src/__tests__/catalog.kills.trial.test.ts',
    ],
    shardsOf('FAULTS', 100, 10),
  ),
  'step-ca': jest(
    `${backend}-module-step-ca`,
    ['src/stepCa.trial.test.ts'],
    [{ CUTS: size('CUTS', 100) }],
  ),
  recovery: inBackend('__tests__/catalog.recovery.trial.test.ts'),
  holds: inBackend(
    'certificates/holds.integration.test.ts',
    shardsOf('HOLD_FAULTS', 100, 10),
  ),
  changes: inBackend(
    'changes/changes.integration.test.ts',
    shardsOf('WRITES', 10_000, 500).map(({ WRITES }, index) => ({
      WRITES,
      RESTARTS: Math.max(1, Math.round((restarts * WRITES) / writes)),
      // Each shard makes different changes.
      SEED: 500 * index + SEED,
    })),
  ),
  handover: inBackend('changes/handover.trial.test.ts'),
  answers: inBackend(
    'http/answers.trial.test.ts',
    shardsOf('MINUTES', 20, 5).map((shard, index) => ({
      ...shard,
      SEED: 1000 * index + SEED,
    })),
  ),
  outages: inBackend('http/availability.integration.test.ts', [
    { OUTAGE_SECONDS: size('OUTAGE_SECONDS', 30), USERS },
  ]),
  start: inBackend('__tests__/start.integration.test.ts', [{ USERS }]),
  doctor: inBackend('doctor/doctor.integration.test.ts', [{ ALL_FAULTS: 1 }]),
  size: jest('ldap', ['src/replica/ReplicaDirectory.size.trial.test.ts']),
  searches: jest(
    'ldap',
    [
      'src/replica/ReplicaDirectory.integration.test.ts',
      'src/replica/NaiveDirectory.integration.test.ts',
    ],
    [{ SEARCHES: size('SEARCHES', 4000) }],
  ),
  privacy: inBackend('http/privacy.integration.test.ts', [
    { REQUESTS: size('REQUESTS', 500) },
  ]),
  replica: jest('ldap', ['src/replica/StricterValues.trial.test.ts']),
  writes: jest(
    'ldap',
    ['src/replica/Replica.writes.integration.test.ts'],
    [{ ROUNDS: size('ROUNDS', 5) }],
  ),
  switch: inBackend('http/serverSwitch.integration.test.ts', [{ USERS }]),
  realm: jest('realm', ['.trial.test.ts']),
  accessibility: {
    command: ['scripts/browser', 'tests', 'accessibility.test.ts'],
    shards: [{ ALL_APPEARANCES: 1 }],
  },
  properties: tests(
    ['backstage-cli', 'repo', 'test', '--testTimeout=3600000'],
    git('grep', '-l', "from 'fast-check'", '*.test.ts', '*.test.tsx')
      .split('\n')
      .filter(file => !/\.(integration|trial)\.test\./.test(file)),
    fuzz(),
  ),
  'fuzz-csr': jest('x509', ['src/request/fuzz.test.ts'], fuzz(20)),
  'fuzz-spnego': jest(
    'kerberos',
    ['src/SpnegoAcceptor.integration.test.ts'],
    fuzz(20),
  ),
  'fuzz-ldap': jest(
    'ldap',
    ['src/connection/LdapConnection.corruption.integration.test.ts'],
    fuzz(),
  ),
  promises: {
    command: ['benchmarks/run'],
    shards: [{ ONLY: 'load', USERS, MINUTES: 2, CLIENTS: 4 }],
  },
};

const chosen = (process.env.ONLY || Object.keys(trials).join()).split(',');
const unknown = chosen.filter(name => !Object.hasOwn(trials, name));
if (unknown.length > 0) {
  const known = Object.keys(trials).join(', ');
  console.error(`Unknown trial ${unknown.join(', ')}. Trials: ${known}`);
  process.exit(2);
}

/** Runs one shard and returns the numbers of tests. */
async function runShard({ command, count }, variables) {
  await rm(report, { force: true });
  const values = Object.entries(variables).map(([key, value]) => [
    key,
    `${value}`,
  ]);
  const code = await run(command, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...Object.fromEntries(values) },
  });
  const { passed, failed } = count
    ? await count().catch(() => ({ passed: 0, failed: 0 }))
    : { passed: code === 0 ? 1 : 0, failed: 0 };
  const error = failed > 0 || passed === 0 || code !== 0;
  return { passed, failed: error ? Math.max(failed, 1) : 0, error };
}

// Uncommitted changes have no commit id: their shards are not skipped.
const isDirty = git('status', '--porcelain') !== '';
const lineOf = openProgress(
  folder,
  isDirty ? `dirty at ${Date.now()}` : git('rev-parse', 'HEAD'),
);

const total = { passed: 0, failed: 0, skipped: 0 };
for (const name of chosen) {
  const { shards } = trials[name];
  for (const [index, variables] of shards.entries()) {
    const label = `${name} ${index + 1} of ${shards.length}`;
    if (interrupted.aborted) {
      total.skipped += 1;
      console.log(`== ${label}: skipped`);
      continue;
    }
    const key = JSON.stringify([name, index, variables]);
    const { passed, failed, isKnown } = await lineOf(key, () => {
      console.log(`\n== ${label}: ${JSON.stringify(variables)}`);
      return runShard(trials[name], variables);
    });
    if (isKnown) {
      console.log(`== ${label}: passed before`);
    } else if (interrupted.aborted) {
      total.skipped += 1;
    } else {
      total.passed += passed;
      total.failed += failed;
    }
  }
}

console.log(
  `\n${total.passed} passed, ${total.failed} failed, ${total.skipped} shards skipped`,
);
process.exitCode = interrupted.aborted ? 130 : Number(total.failed > 0);
