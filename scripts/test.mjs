// Runs the project's checks and tests and adds up what they counted.
//
//   node scripts/test.mjs            everything: `make test`
//   node scripts/test.mjs --quick    without what needs a realm: `make check`
//
// The last line is "N passed, N failed, N skipped". A step that failed without
// counting anything counts as one failure, and so does a step that ran nothing.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const results = join(root, '.build/test');
const jestResults = join(results, 'jest.json');
const startResults = join(results, 'start.tap');
const documentResults = join(results, 'documents.tap');
const browserResults = join(root, '.build/e2e/results.json');
const quick = process.argv.includes('--quick');

const jest = [
  'yarn',
  'backstage-cli',
  'repo',
  'test',
  '--ci',
  '--watchAll=false',
  // Tests share a machine of two cores: none may fail because it is busy.
  '--testTimeout=60000',
  '--json',
  `--outputFile=${jestResults}`,
];
const unitTestsOnly = [
  '--testPathIgnorePatterns',
  '/node_modules/',
  String.raw`\.integration\.test\.[jt]sx?$`,
];
const common = '@directory-gateway/backstage-plugin-directory-common';

/** A file of tests for Node's own runner, with a report to count. */
const nodeTest = (file, report) => [
  process.execPath,
  '--test',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  '--test-reporter=tap',
  `--test-reporter-destination=${report}`,
  file,
];

/** Name, command, and how to count what it did; without, it counts as one. */
const checks = [
  { name: 'types', command: ['yarn', 'tsc'] },
  { name: 'lint', command: ['yarn', 'lint'] },
  { name: 'format', command: ['yarn', 'prettier:check', '--loglevel=warn'] },
  {
    name: 'generated types',
    command: ['yarn', 'workspace', common, 'generate', '--check'],
  },
  {
    name: 'documents and toolchain',
    command: [
      ...nodeTest('scripts/documents.test.mjs', documentResults),
      'scripts/toolchain.test.mjs',
    ],
    count: () => countNodeTest(documentResults),
  },
];
const steps = quick
  ? [
      ...checks,
      {
        name: 'unit tests',
        command: [...jest, ...unitTestsOnly],
        count: countJest,
      },
    ]
  : [
      ...checks,
      { name: 'tests', command: jest, count: countJest },
      {
        name: 'make start',
        command: nodeTest('scripts/start.test.mjs', startResults),
        count: () => countNodeTest(startResults),
      },
      {
        name: 'browser',
        command: ['scripts/browser', 'tests'],
        count: countPlaywright,
      },
    ];

async function countJest() {
  const report = JSON.parse(await readFile(jestResults, 'utf8'));
  return {
    passed: report.numPassedTests,
    // A suite that could not be run has no tests to count.
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

async function countNodeTest(file) {
  const report = await readFile(file, 'utf8');
  const number = name =>
    Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(report)[1]);
  return {
    passed: number('pass'),
    failed: number('fail') + number('cancelled'),
    skipped: number('skipped') + number('todo'),
  };
}

async function countPlaywright() {
  const { stats, errors } = JSON.parse(await readFile(browserResults, 'utf8'));
  return {
    passed: stats.expected,
    // What went wrong outside of the tests, a file that cannot be read say.
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: stats.skipped,
  };
}

/** Runs one step; says now and then that it is still at it. */
async function run({ name, command, count }) {
  console.log(`\n== ${name}`);
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const life = setInterval(
    () => console.log(`   ${name}: ${seconds()} s`),
    15_000,
  );
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd: root, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  clearInterval(life);

  const succeeded = code === 0;
  const counted = count
    ? await count().catch(() => ({ passed: 0, failed: 0, skipped: 0 }))
    : { passed: succeeded ? 1 : 0, failed: succeeded ? 0 : 1, skipped: 0 };
  const ranNothing = counted.passed + counted.failed === 0;
  if (counted.failed === 0 && (!succeeded || ranNothing)) {
    counted.failed = 1;
  }
  return { name, ...counted, seconds: seconds() };
}

await rm(results, { recursive: true, force: true });
await rm(browserResults, { force: true });
await mkdir(results, { recursive: true });

const total = { passed: 0, failed: 0, skipped: 0 };
const lines = [];
for (const step of steps) {
  const { name, passed, failed, skipped, seconds } = await run(step);
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
