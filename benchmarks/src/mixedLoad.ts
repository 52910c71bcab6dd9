import type { TakeCredentials } from './credentials';
import { percentile } from './interval';
import { send, type Sample } from './load';
import type { Portal } from './Portal';
import { pick, rowsFor, type Names } from './rows';
import type { Values } from './tables';
import { measureWrites } from './writes';

/** Options of the mixed load. */
export interface MixedOptions {
  readonly portal: Portal;
  readonly takeCredentials: TakeCredentials;
  readonly names: Names;
  readonly minutes: number;
}

const CLIENTS = 50;

/**
 * Sends requests without a pause, so that the portal's CPU is fully used, and
 * measures writes meanwhile.
 */
export async function measureMixedLoad(options: MixedOptions): Promise<Values> {
  const { minutes } = options;
  const [samples, writes] = await Promise.all([
    sendRequests(options),
    measureWrites(options),
  ]);
  const latencies = samples.flatMap(sample => sample.latencies);
  const errors = samples.flatMap(sample => sample.errors);
  errors.slice(0, 3).forEach(error => process.stderr.write(`${error}\n`));
  return {
    'minutes under load': minutes,
    'requests/s': latencies.length / minutes / 60,
    'request (p50), ms': percentile(latencies, 50),
    'request (p99), ms': percentile(latencies, 99),
    errors: errors.length,
    ...writes,
  };
}

async function sendRequests(options: MixedOptions): Promise<readonly Sample[]> {
  const { portal, takeCredentials, names, minutes } = options;
  const rows = rowsFor(names).flatMap(row =>
    Array.from({ length: row.share ?? 0 }, () => row),
  );
  const samples: Sample[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    // Renews the sessions.
    const sessions = await takeCredentials('session cookie', CLIENTS);
    const sample = await send({
      origin: portal.origin,
      connections: CLIENTS,
      limit: { duration: 60 },
      next() {
        const { username, headers } = pick(sessions);
        return { ...pick(rows).request(username), headers };
      },
    });
    samples.push(sample);
  }
  return samples;
}
