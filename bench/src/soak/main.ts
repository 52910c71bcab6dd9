import { formatSoak, formatMinute } from './formatSoak';
import { readSoakOptions } from './readSoakOptions';
import { runSoak } from './runSoak';

/*
 * `make soak`: asks for some time, compares and prints what it has seen; fails
 * when an answer was wrong. docs/performance.md says how to read it.
 */

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
  const result = await runSoak({
    ...readSoakOptions(process.env),
    signal: interrupted.signal,
    tell,
    minute: (minute, so) => tell(formatMinute(minute, so)),
  });
  process.stdout.write(`\n${formatSoak(result)}\n`);
  const { wrong, serverErrors } = result.tally;
  if (wrong.length + serverErrors.length > 0) {
    process.exitCode = 1;
  }
}

function tell(line: string): void {
  process.stderr.write(`soak: ${line}\n`);
}
