import { postgres, sqlite } from '../TestDatabase';
import { CrashTrial, type CrashCounts } from './CrashTrial';

/** Says now and then that it is still at it. */
const PROGRESS_EVERY = 50;

function isSound(counts: CrashCounts): boolean {
  const { lost, duplicates, changed, misfiled, authorities } = counts;
  return lost + duplicates + changed + misfiled === 0 && authorities === 1;
}

async function main(): Promise<void> {
  const kills = Number(process.env.KILLS || 500);
  // Folders and servers of the trial go before this process does.
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => stopped.abort());
  }
  for (const kind of [sqlite, postgres]) {
    const counts = await CrashTrial.run({
      kind,
      kills,
      signal: stopped.signal,
      onKill(done) {
        if (done % PROGRESS_EVERY === 0) {
          process.stdout.write(`${kind.name}: ${done} of ${kills} kills\n`);
        }
      },
    });
    process.stdout.write(`${kind.name}: ${JSON.stringify(counts)}\n`);
    if (!isSound(counts)) {
      process.exitCode = 1;
    }
  }
}

main().catch(error => {
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
});
