// Loaded into the portal before anything else (`node --import`): answers each
// message of the bench with what the process has used since the last one, and
// ends the portal when the bench has gone, in whatever way.

import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let cpu = process.cpuUsage();

process.on('message', () => {
  const used = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  process.send({
    cpuMs: (used.user + used.system) / 1000,
    rssBytes: process.memoryUsage.rss(),
    // The histogram holds the whole time between two ticks of its timer.
    eventLoopDelayMs: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
  });
  delay.reset();
});
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The portal's own work decides how long it lives.
process.channel.unref();
