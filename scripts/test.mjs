// Runs the project's checks and tests and adds up the results.
//
//   node scripts/test.mjs [PHASE…]     default: every phase, as `make test`
//
// Phases: check-types, check-api, check-lint, check-format, check-generated and
// check-documents (together: checks), unit, integration, browser, start. The
// checks and the build of the portal run concurrently, then unit, then
// integration together with start, then browser. Integration and browser do not
// overlap, because each uses all cores. `after` lists what a phase starts after.
// Each phase writes its counts and its duration in seconds to
// .build/test/PHASE.json. --record-durations writes those of the longest test
// files to scripts/test-durations.json, which scripts/LongestFirst.cjs reads.
//
// Results of earlier runs make the next one faster: .cache/ and dist-types/ can
// be kept between runs of CI.
//
// The last line is "N passed, N failed, N skipped". A phase that fails without
// any counts, or does not run any tests, counts as one failure.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const results = join(root, '.build/test');
const caches = join(root, '.cache');
const browserResults = join(root, '.build/e2e/results.json');
const common = '@directory-gateway/backstage-plugin-directory-common';
const INTEGRATION_TEST = String.raw`\.integration\.test\.[jt]sx?$`;
/** Tests of `make trials`. */
const TRIAL = String.raw`\.trial\.test\.[jt]sx?$`;

/** Returns the path of the report that the runner of a phase writes. */
const reportOf = phase => join(results, `${phase}.report`);

const jest = (phase, ...options) => ({
  command: [
    'yarn',
    'backstage-cli',
    'repo',
    'test',
    '--ci',
    '--watchAll=false',
    // Jest's default of 5 seconds depends on the speed of the machine.
    '--testTimeout=180000',
    `--config=${join(root, 'scripts/jest.config.cjs')}`,
    `--testSequencer=${join(root, 'scripts/LongestFirst.cjs')}`,
    `--cacheDirectory=${join(caches, 'jest')}`,
    // A worker that starts again has to load all modules again.
    '--workerIdleMemoryLimit=4000M',
    '--json',
    `--outputFile=${reportOf(phase)}`,
    ...options,
  ],
  count: async () => {
    const report = JSON.parse(await readFile(reportOf(phase), 'utf8'));
    return {
      passed: report.numPassedTests,
      // A suite that could not be run has no counted tests.
      failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
      skipped: report.numPendingTests + report.numTodoTests,
    };
  },
});

/** Test files for Node's own runner. */
const nodeTest = (phase, ...files) => ({
  command: [
    process.execPath,
    '--test',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    `--test-reporter-destination=${reportOf(phase)}`,
    ...files,
  ],
  count: async () => {
    const report = await readFile(reportOf(phase), 'utf8');
    const number = name =>
      Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(report)[1]);
    return {
      passed: number('pass'),
      failed: number('fail') + number('cancelled'),
      skipped: number('skipped') + number('todo'),
    };
  },
});

const checks = {
  'check-types': { command: ['yarn', 'tsc'] },
  'check-api': {
    command: [process.execPath, 'scripts/api-reports.mjs', '--check'],
    // The reports are generated from the declarations in dist-types.
    after: ['check-types'],
  },
  'check-lint': {
    command: [
      'yarn',
      'lint',
      '--success-cache',
      `--success-cache-dir=${join(caches, 'lint')}`,
    ],
  },
  'check-format': {
    command: [
      'yarn',
      'prettier:check',
      '--log-level=warn',
      '--cache',
      '--cache-strategy=content',
      `--cache-location=${join(caches, 'prettier')}`,
    ],
  },
  'check-generated': {
    command: ['yarn', 'workspace', common, 'generate', '--check'],
  },
  'check-documents': nodeTest(
    'check-documents',
    'scripts/configuration.test.mjs',
    'scripts/documents.test.mjs',
  ),
};

/**
 * Commands of the phases; without `count`, a phase counts as one test. `after`
 * lists the phases that must have ended if they were chosen, too; "build" is the
 * build of the portal.
 */
const phases = {
  ...checks,
  unit: {
    ...jest(
      'unit',
      '--testPathIgnorePatterns',
      '/node_modules/',
      INTEGRATION_TEST,
      TRIAL,
    ),
    after: Object.keys(checks),
  },
  integration: {
    ...jest(
      'integration',
      '--testPathPatterns',
      INTEGRATION_TEST,
      // These tests wait for servers: five workers use two cores.
      '--maxWorkers=5',
    ),
    // The bundles serve the pages of the build, which must not change.
    after: ['build', 'unit'],
  },
  start: {
    ...nodeTest('start', 'scripts/start.test.mjs'),
    after: ['build', 'unit'],
  },
  browser: {
    command: ['scripts/browser', 'tests'],
    count: async () => {
      const report = JSON.parse(await readFile(browserResults, 'utf8'));
      const { stats, errors } = report;
      return {
        passed: stats.expected,
        // Errors outside of the tests, such as a file that cannot be read.
        failed: stats.unexpected + stats.flaky + errors.length,
        skipped: stats.skipped,
      };
    },
    after: ['build', 'integration', 'start'],
  },
};

const RECORD = '--record-durations';
/** Test files that take at least this long, in seconds, are recorded. */
const LONG = 10;

const chosen = process.argv
  .slice(2)
  .filter(argument => argument !== RECORD)
  .flatMap(name => (name === 'checks' ? Object.keys(checks) : [name]));
const unknown = chosen.filter(name => !Object.hasOwn(phases, name));
if (unknown.length > 0) {
  const known = ['checks', ...Object.keys(phases)].join(', ');
  console.error(`Unknown phase ${unknown.join(', ')}. Phases: ${known}`);
  process.exit(2);
}
// The API reports need the declarations of this check.
const required = chosen.includes('check-api') ? ['check-types'] : [];
const names = Object.keys(phases).filter(
  name =>
    chosen.length === 0 || chosen.includes(name) || required.includes(name),
);
/** The output of concurrent phases is printed when a phase ends. */
const buffered = names.length > 1;

/** Times at which the running phases started, in milliseconds. */
const running = new Map();
const secondsOf = name => Math.round((Date.now() - running.get(name)) / 1000);
const progress = setInterval(() => {
  const list = [...running.keys()].map(name => `${name} ${secondsOf(name)} s`);
  console.log(`   running: ${list.join(', ')}`);
}, 15_000);

/** Runs one phase and returns its result. */
async function run(name) {
  const { command, count } = phases[name];
  if (!buffered) {
    console.log(`\n== ${name}`);
  }
  running.set(name, Date.now());
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: root,
    stdio: buffered ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  });
  const output = [];
  child.stdout?.on('data', chunk => output.push(chunk));
  child.stderr?.on('data', chunk => output.push(chunk));
  const [code] = await once(child, 'close');
  const seconds = secondsOf(name);
  running.delete(name);
  if (buffered) {
    console.log(`\n== ${name}`);
    process.stdout.write(Buffer.concat(output));
  }

  const succeeded = code === 0;
  const counted = count
    ? await count().catch(() => ({ passed: 0, failed: 0, skipped: 0 }))
    : { passed: succeeded ? 1 : 0, failed: succeeded ? 0 : 1, skipped: 0 };
  const ranNothing = counted.passed + counted.failed === 0;
  if (counted.failed === 0 && (!succeeded || ranNothing)) {
    counted.failed = 1;
  }
  const result = { name, ...counted, seconds };
  await writeFile(
    join(results, `${name}.json`),
    `${JSON.stringify(result, undefined, 2)}\n`,
  );
  return result;
}

/**
 * Builds the portal and bundles the portals of tests once, before the phases
 * that need them. These phases report a failed build.
 */
async function build() {
  for (const [program, ...args] of [
    ['scripts/build'],
    [process.execPath, 'scripts/bundle-gateways.mjs'],
  ]) {
    const child = spawn(program, args, { cwd: root, stdio: 'ignore' });
    await once(child, 'close');
  }
}

await mkdir(results, { recursive: true });
await rm(browserResults, { force: true });
for (const name of names) {
  await rm(join(results, `${name}.json`), { force: true });
  await rm(reportOf(name), { force: true });
}

/** Promises of the results of the chosen phases. */
const finished = new Map();
if (buffered && names.some(name => phases[name].after?.includes('build'))) {
  finished.set('build', build());
}
for (const name of names) {
  const { after = [] } = phases[name];
  const earlier = Promise.all(after.map(other => finished.get(other)));
  finished.set(
    name,
    earlier.then(() => run(name)),
  );
}
const ended = await Promise.all(names.map(name => finished.get(name)));
clearInterval(progress);

const parsed = async path =>
  JSON.parse(await readFile(path, 'utf8').catch(() => '{}'));

/** Durations of the test files that ran, in seconds. */
const durations = [];
for (const phase of ['unit', 'integration']) {
  const { testResults = [] } = await parsed(reportOf(phase));
  for (const { name, startTime, endTime } of testResults) {
    const seconds = Math.round((endTime - startTime) / 1000);
    durations.push([relative(root, name), seconds]);
  }
}
const longestFirst = ([, a], [, b]) => b - a;
if (process.argv.includes(RECORD)) {
  const long = Object.fromEntries(
    durations.filter(([, each]) => each >= LONG).sort(longestFirst),
  );
  await writeFile(
    join(root, 'scripts/test-durations.json'),
    `${JSON.stringify(long, undefined, 2)}\n`,
  );
}

/** Returns the milliseconds of all tests in a suite of Playwright's report. */
const timeOf = ({ specs = [], suites = [] }) =>
  [
    ...specs.flatMap(({ tests }) => tests.flatMap(test => test.results)),
    ...suites.map(suite => ({ duration: timeOf(suite) })),
  ].reduce((sum, { duration }) => sum + duration, 0);
const { suites: browserFiles = [] } = await parsed(browserResults);
for (const suite of browserFiles) {
  const seconds = Math.round(timeOf(suite) / 1000);
  durations.push([`packages/app/e2e-tests/${suite.file}`, seconds]);
}
if (durations.length > 0) {
  console.log('\nThe slowest test files:');
}
for (const [name, seconds] of durations.sort(longestFirst).slice(0, 10)) {
  console.log(`${`${seconds} s`.padStart(6)} ${name}`);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
for (const { name, passed, failed, skipped, seconds } of ended) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  lines.push(
    `${failed ? 'FAILED' : 'ok    '} ${name.padEnd(
      16,
    )} ${passed} passed, ${failed} failed, ${skipped} skipped (${seconds} s)`,
  );
}

console.log(`\n${lines.join('\n')}\n`);
console.log(
  `${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`,
);
process.exitCode = total.failed ? 1 : 0;
