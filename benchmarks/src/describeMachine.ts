import { cpus, loadavg, release, totalmem } from 'node:os';

/** What a result depends on besides the code. */
export function describeMachine() {
  const all = cpus();
  return {
    cpus: all.length,
    cpu: all[0].model.trim(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    load_before: Number(loadavg()[0].toFixed(2)),
  };
}
