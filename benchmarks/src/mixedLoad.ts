import type { Realm } from '@directory-gateway/realm';
import type { Credentials } from './Credentials';
import { percentile } from './interval';
import { send, type LoadRequest, type Sample } from './load';
import type { Portal } from './Portal';
import { pick, rowsFor, type Names, type Row } from './rows';
import type { Values } from './tables';
import { measureWrites } from './writes';

/** Options of the mixed load. */
export interface MixedOptions {
  readonly realm: Realm;
  readonly portal: Portal;
  readonly credentials: Credentials;
  readonly names: Names;
  /** Users whose accounts are locked. */
  readonly lockedUsers: readonly string[];
  readonly minutes: number;
  readonly signal: AbortSignal;
}

const CLIENTS = 50;
/** Sessions are renewed between these periods. */
const PERIOD_S = 60;

/**
 * Sends 70 % reads, 20 % searches and 10 % pages without a pause, so that the
 * portal's CPU is fully used, and measures writes meanwhile.
 */
export async function measureMixedLoad(options: MixedOptions): Promise<Values> {
  const { minutes } = options;
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const parts = [
    sendRequests({ ...options, signal }),
    measureWrites({ ...options, signal }),
  ] as const;
  parts.forEach(part => part.catch(error => failed.abort(error)));
  const [samples, writes] = await Promise.all(parts);
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
  const { portal, credentials, names, minutes, signal } = options;
  const { origin } = portal;
  const rows = rowsFor(names);
  const part = (name: Row['mixed']) => rows.filter(row => row.mixed === name);
  const [reads, searches, pages] = [part('read'), part('search'), part('page')];
  const samples: Sample[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    const sessions = await credentials.take('session cookie', CLIENTS);
    const next = (): LoadRequest => {
      const { username, headers } = pick(sessions);
      const share = Math.random();
      const list = share < 0.7 ? reads : share < 0.9 ? searches : pages;
      return { ...pick(list).request(username), headers };
    };
    const limit = { duration: PERIOD_S };
    samples.push(
      await send({ origin, connections: CLIENTS, limit, next, signal }),
    );
  }
  return samples;
}
