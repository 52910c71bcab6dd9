// Checks that `make test` catches plausible faults.
//
//   node scripts/faults.mjs          every fault in scripts/faults.json
//
// Variables: ONLY=id,id selects faults; WHOLE=0 does not run all tests when the
// suite of a fault misses it.
//
// Works on HEAD in a separate checkout, .build/faults/checkout. Each fault
// replaces one text in one file; its suite, a test file, must pass without the
// fault and fail with it. Each suite and each fault adds a line to
// .build/faults/progress.jsonl; the next run on the same commit skips suites
// that passed and faults that were caught. .build/faults/ID.log is the output
// of the tests. Ctrl-C stops the running tests.

import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { git, interrupted, openProgress, root, run } from './progress.mjs';

const folder = join(root, '.build/faults');
const checkout = join(folder, 'checkout');
const list = await readFile(join(root, 'scripts/faults.json'), 'utf8');
const only = (process.env.ONLY ?? '').split(',').filter(Boolean);
const faults = JSON.parse(list)
  .filter(({ id }) => only.length === 0 || only.includes(id))
  .sort((a, b) => a.suite.localeCompare(b.suite));
const unknown = only.filter(id => !faults.some(fault => fault.id === id));
if (unknown.length > 0) {
  console.error(`Unknown fault ${unknown.join(', ')}: see scripts/faults.json`);
  process.exit(2);
}

/** Runs a command in the checkout, with its output in a log. */
async function runLogged(command, { cwd = '.', log }) {
  const output = openSync(join(folder, `${log}.log`), 'w');
  const code = await run(command, {
    cwd: join(checkout, cwd),
    stdio: ['ignore', output, output],
    // Some tests read ONLY, too.
    env: { ...process.env, ONLY: '' },
  });
  closeSync(output);
  return code;
}

const commit = git('rev-parse', 'HEAD');
const restore = () =>
  git('-C', checkout, 'checkout', '--quiet', '--force', '--detach', commit);

/** Checks HEAD out; the first time, copies the installed dependencies. */
async function prepare() {
  if (!existsSync(checkout)) {
    git('clone', '--quiet', '--shared', '--no-checkout', root, checkout);
  }
  restore();
  // Copied last.
  if (!existsSync(join(checkout, '.toolchain'))) {
    const copied =
      'node_modules packages/*/node_modules plugins/*/node_modules .toolchain';
    const command = `cp --archive --parents ${copied} "$0"`;
    execFileSync('sh', ['-c', command, checkout], { cwd: root });
  }
  await mkdir(join(checkout, '.build'), { recursive: true });
  if (
    (await runLogged(['scripts/dependencies'], { log: 'dependencies' })) !== 0
  ) {
    throw new Error(`Dependencies cannot be installed: ${folder}`);
  }
}

/** Returns the results of the tests in a report of Jest or Playwright. */
function testsIn({ testResults = [], suites = [], specs = [] }) {
  return [
    ...testResults.flatMap(({ assertionResults }) => assertionResults),
    ...specs.map(({ title, ok }) => ({
      fullName: title,
      status: ok ? 'passed' : 'failed',
    })),
    ...suites.flatMap(testsIn),
  ];
}

/**
 * Runs a suite. Returns the titles of passed and failed tests: none when the
 * suite does not compile.
 */
async function runSuite(suite, log) {
  const isBrowser = suite.startsWith('packages/app/e2e-tests/');
  const cwd = isBrowser ? '.' : suite.split('/').slice(0, 2).join('/');
  const report = isBrowser ? '.build/e2e/results.json' : '.build/jest.json';
  const jest = 'yarn test --ci --watchAll=false --testTimeout=180000 --json';
  const output = `--outputFile=../../${report}`;
  const command = isBrowser
    ? ['scripts/browser', 'tests', basename(suite)]
    : [...jest.split(' '), output, '--runTestsByPath', relative(cwd, suite)];
  await rm(join(checkout, report), { force: true });
  await runLogged(command, { cwd, log });
  const results = await readFile(join(checkout, report)).catch(() => '{}');
  const tests = testsIn(JSON.parse(results));
  const titles = result =>
    tests.filter(test => test.status === result).map(test => test.fullName);
  return { passed: titles('passed'), failed: titles('failed') };
}

/** Runs a suite without a fault. */
async function trySuite(suite) {
  const { passed, failed } = await runSuite(suite, basename(suite));
  return passed.length > 0 && failed.length === 0
    ? {}
    : { error: 'the suite fails without the fault' };
}

/** Inserts a fault and runs its suite; all tests if the suite misses it. */
async function tryFault({ id, file, find, replace, suite }) {
  const path = join(checkout, file);
  const parts = (await readFile(path, 'utf8').catch(() => '')).split(find);
  if (parts.length !== 2) {
    return { error: `${file} contains the text ${parts.length - 1} times` };
  }
  await writeFile(path, parts.join(replace));
  const { passed, failed } = await runSuite(suite, id);
  if (failed.length > 0) {
    return { caughtBy: failed[0] };
  }
  if (passed.length === 0) {
    return { error: 'no test ran: the fault may not compile' };
  }
  if (process.env.WHOLE !== '0') {
    // Without the checks, which also find a fault's unused import or blank line.
    const all = ['unit', 'integration', 'browser', 'start'];
    await runLogged(['node', 'scripts/test.mjs', ...all], { log: `${id}.all` });
    const output = await readFile(join(folder, `${id}.all.log`), 'utf8');
    const phases = [...output.matchAll(/^FAILED (\S+)/gm)];
    if (phases.length > 0) {
      return { caughtBy: `phase ${phases.map(([, name]) => name).join(', ')}` };
    }
  }
  return { error: 'missed' };
}

const lineOf = openProgress(folder, commit);
await prepare();

const results = [];
for (const fault of faults) {
  const { id, suite } = fault;
  let line = await lineOf(suite, () => trySuite(suite));
  if (!line.error && !interrupted.aborted) {
    line = await lineOf(JSON.stringify(fault), () =>
      tryFault(fault).finally(restore),
    );
  }
  if (interrupted.aborted) {
    break;
  }
  const { caughtBy, error, seconds } = line;
  console.log(`${error ?? 'caught'}: ${id} (${seconds} s)`);
  results.push({
    id,
    suite: basename(suite),
    'caught by': caughtBy?.slice(0, 60) ?? `NOT CAUGHT: ${error}`,
    seconds,
  });
}

console.table(results);
const failed = results.filter(row => /^NOT CAUGHT/.test(row['caught by']));
const passed = results.length - failed.length;
const skipped = faults.length - results.length;
console.log(`${passed} passed, ${failed.length} failed, ${skipped} skipped`);
process.exitCode = interrupted.aborted
  ? 130
  : Number(passed < 0.95 * results.length);
