// Loaded into the portal before all other modules (`node --import`): adds a
// route for comparison, or removes the directory plugin, and sends measurements
// of the process to its parent.

import { readFile, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { registerHooks } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const PLUGIN = '@directory-gateway/backstage-plugin-directory-backend';
const REPLACED =
  process.env.BENCHMARK_VARIANT === 'none'
    ? [PLUGIN, `${PLUGIN}-module-embedded-ca`, `${PLUGIN}-module-freeipa-ca`]
    : // Not used by the benchmark's configuration.
      [`${PLUGIN}-module-freeipa-ca`];

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    nextResolve(
      REPLACED.includes(specifier)
        ? new URL('./features.cjs', import.meta.url).href
        : specifier,
      context,
    ),
});

const RESOLUTION_MS = 10;
const PROFILE_INTERVAL_US = 200;
/** Time for finalizers. */
const SETTLE_MS = 1000;
/** V8 keeps empty pages for eight seconds. */
const RELEASE_MS = 10_000;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let cpu = process.cpuUsage();
let profiler;

function vitals() {
  const used = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  // The histogram includes the interval of its timer.
  const result = {
    cpuMs: (used.user + used.system) / 1000,
    eventLoopDelayMs: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    maxEventLoopDelayMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
  };
  delay.reset();
  return result;
}

async function memory() {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  collectGarbage();
  await sleep(SETTLE_MS);
  collectGarbage();
  await sleep(RELEASE_MS);
  const { rss, heapUsed, external } = process.memoryUsage();
  // getrusage(2) includes the process before exec.
  const status = await readFile('/proc/self/status', 'utf8');
  const [, kibibytes] = status.match(/^VmHWM:\s*(\d+) kB$/m);
  return {
    rssBytes: rss,
    highestRssBytes: Number(kibibytes) * 1024,
    usedBytes: heapUsed + external,
  };
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

const methods = { vitals, memory, startProfile, stopProfile };

process.on('message', async message => {
  process.send({ result: (await methods[message.method](message)) ?? null });
});
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The channel must not keep the portal alive.
process.channel.unref();
