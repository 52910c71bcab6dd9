// Loaded into the portal before anything else (`node --import`): answers the
// bench's messages about its process, and ends it when the bench has gone, in
// whatever way.

import { readFile, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const RESOLUTION_MS = 10;
/** Often enough for frames of a tenth of a millisecond. */
const PROFILE_INTERVAL_US = 200;

/** For what is left of a collection. */
const SETTLE_MS = 1000;
/** V8 keeps emptied pages for eight seconds, to use them again. */
const RELEASE_MS = 10_000;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let cpu = process.cpuUsage();
let profiler;

/** What the process has used since it was last asked. */
function vitals() {
  const used = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  const late = {
    // The histogram holds the whole time between two ticks of its timer.
    eventLoopDelayMs: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    maxEventLoopDelayMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
  };
  delay.reset();
  return { cpuMs: (used.user + used.system) / 1000, ...late };
}

/** What it holds after everything has been collected that can be. */
async function memory() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  collect();
  // What waits for a finalizer is only freed by the collection after it.
  await sleep(SETTLE_MS);
  collect();
  await sleep(RELEASE_MS);
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    rssBytes: rss,
    highestRssBytes: await highestRssBytes(),
    usedBytes: heapUsed + external,
  };
}

/** Of this process alone: getrusage(2) counts what the one before exec held. */
async function highestRssBytes() {
  const status = await readFile('/proc/self/status', 'utf8');
  const [, kibibytes] = status.match(/^VmHWM:\s*(\d+) kB$/m);
  return Number(kibibytes) * 1024;
}

async function startProfile() {
  profiler = new Session();
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.setSamplingInterval', {
    interval: PROFILE_INTERVAL_US,
  });
  await profiler.post('Profiler.start');
}

async function stopProfile({ file }) {
  const { profile } = await profiler.post('Profiler.stop');
  profiler.disconnect();
  await writeFile(file, JSON.stringify(profile));
}

const answers = { vitals, memory, startProfile, stopProfile };

process.on('message', async question => {
  process.send({ answer: (await answers[question.ask](question)) ?? null });
});
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The portal's own work decides how long it lives.
process.channel.unref();
