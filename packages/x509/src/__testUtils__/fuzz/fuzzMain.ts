import { fork } from 'node:child_process';
import { once } from 'node:events';
import { emptyReport, FuzzReport, mergeReports } from './FuzzReport';

const BATCH = 20_000;

/** Maximum time for one input. */
const TIMEOUT_MS = 30_000;

/**
 * Arguments: number of inputs, maximum minutes, first seed. Prints the counts.
 * Each batch runs in a child process, so that inputs that cause a crash or a
 * hang are found.
 */
async function main([
  inputs = 1_000_000,
  minutes = 8,
  firstSeed = 0,
]: number[]): Promise<void> {
  const end = Date.now() + minutes * 60_000;
  const start = performance.now();
  let report = emptyReport();
  for (
    let from = firstSeed;
    from < firstSeed + inputs && Date.now() < end;
    from += BATCH
  ) {
    const to = Math.min(from + BATCH, firstSeed + inputs);
    const batch = await tryBatch(from, to);
    for (const { seed, what } of batch.findings) {
      process.stderr.write(`\nseed ${seed}: ${what}\n`);
    }
    report = mergeReports(report, batch);
    process.stderr.write(
      `\r${report.inputs} inputs, ${report.findings.length} findings `,
    );
  }
  const perSecond = Math.round(
    report.inputs / ((performance.now() - start) / 1000),
  );
  process.stdout.write(
    `\n${JSON.stringify({ ...report, perSecond }, undefined, 2)}\n`,
  );
  process.exitCode = report.findings.length > 0 ? 1 : 0;
}

async function tryBatch(from: number, to: number): Promise<FuzzReport> {
  const child = fork(
    require.resolve('./fuzzChild'),
    [String(from), String(to)],
    {
      execArgv: [
        '--require',
        require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
      ],
    },
  );
  return await new Promise(resolve => {
    let seed = from;
    let report: FuzzReport | undefined;
    const watchdog = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    child.on(
      'message',
      (message: { seed: number } | { report: FuzzReport }) => {
        watchdog.refresh();
        if ('seed' in message) {
          seed = message.seed;
        } else {
          report = message.report;
        }
      },
    );
    // The exit may be reported before the last messages; the channel closes after them.
    Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(
      ([[code, signal]]) => {
        clearTimeout(watchdog);
        const what = `ended the process: ${signal ?? code}`;
        resolve(report ?? { ...emptyReport(), findings: [{ seed, what }] });
      },
    );
  });
}

main(process.argv.slice(2).map(Number));
