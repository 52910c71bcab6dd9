import { cpus } from 'node:os';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Client } from 'undici';
import type { Credential, Credentials } from './credentials/credentials';
import type { ScenarioRequest } from './scenarios/Scenario';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** Results of a run. */
export interface Sample {
  readonly requests: number;
  readonly seconds: number;
  /** Total length of the response bodies. */
  readonly bytes: number;
  /** Nanoseconds from sending a request to the end of its response. */
  readonly latencies: RecordableHistogram;
}

/** Requests and duration of a run. */
interface LoopRun {
  readonly credentials: Credentials;
  readonly next: (username: string) => ScenarioRequest;
  readonly connections: number;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/**
 * Sends requests on several connections, sequentially on each, and checks each
 * response.
 */
export class ClosedLoop {
  readonly #clients: readonly Client[];
  readonly #basePath: string;
  #requests = 0;

  constructor(options: {
    /** For example `http://127.0.0.1:40123`. */
    readonly origin: string;
    /** Default: the REST API, `/api/directory/v1`. */
    readonly basePath?: string;
    /** Maximum number of connections. */
    readonly connections: number;
  }) {
    this.#basePath = options.basePath ?? '/api/directory/v1';
    this.#clients = Array.from(
      { length: options.connections },
      () => new Client(options.origin, { pipelining: 1 }),
    );
  }

  /** Number of requests in all runs. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * Runs until the time has elapsed or no credentials are left.
   *
   * @throws Error with the response when it is not the expected one
   */
  async run(options: LoopRun): Promise<Sample> {
    const { credentials, next, connections, ms, signal } = options;
    const latencies = createHistogram();
    const start = performance.now();
    let bytes = 0;
    const sendRequests = async (client: Client) => {
      while (performance.now() - start < ms) {
        signal.throwIfAborted();
        const credential = credentials.next();
        if (!credential) {
          return;
        }
        const request = next(credential.username);
        const sentAt = process.hrtime.bigint();
        const text = await this.#send(client, credential, request);
        latencies.record(process.hrtime.bigint() - sentAt);
        bytes += Buffer.byteLength(text);
        this.#requests++;
      }
    };
    await Promise.all(this.#clients.slice(0, connections).map(sendRequests));
    return {
      requests: latencies.count,
      seconds: (performance.now() - start) / 1000,
      bytes,
      latencies,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map(client => client.destroy()));
  }

  async #send(
    client: Client,
    credential: Credential,
    { path, form, expected }: ScenarioRequest,
  ): Promise<string> {
    const method = form === undefined ? 'GET' : 'POST';
    const { statusCode, body } = await client.request({
      method,
      path: `${this.#basePath}${path}`,
      headers: { ...credential.headers, ...(form !== undefined && FORM) },
      body: form,
    });
    const text = await body.text();
    const missing = expected.find(part => !text.includes(part));
    if (statusCode !== 200 || missing !== undefined) {
      throw new Error(
        `${method} ${path} returned ${statusCode} without ${
          missing ?? 'the expected status'
        }: ${text.slice(0, 500)}`,
      );
    }
    return text;
  }
}

/** Utilization of one CPU by all processes. */
export class CpuMeter {
  readonly #cpu: number;
  #last: { readonly busy: number; readonly all: number };

  constructor(cpu: number) {
    this.#cpu = cpu;
    this.#last = this.#read();
  }

  /** Returns the utilization since the last call, from 0 to 1. */
  lap(): number {
    const { busy, all } = this.#last;
    this.#last = this.#read();
    return (this.#last.busy - busy) / Math.max(1, this.#last.all - all);
  }

  #read() {
    const { idle, ...work } = cpus()[this.#cpu].times;
    const busy = Object.values(work).reduce((sum, ms) => sum + ms, 0);
    return { busy, all: busy + idle };
  }
}

/** Requests per second. */
export function rate({ requests, seconds }: Sample): number {
  return requests / seconds;
}

/** Returns a percentile of nanoseconds in milliseconds. */
export function milliseconds(
  latencies: RecordableHistogram,
  percentile: number,
): number {
  return latencies.percentile(percentile) / 1e6;
}

/** Median, 95th percentile and maximum. */
export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (ratio: number) => sorted[Math.ceil(ratio * sorted.length) - 1];
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
}

/**
 * Returns half the width of the 95 % confidence interval of the ratio of two
 * means, from at least two pairs of values that were measured in turn: other
 * work on the machine affects both values of a pair.
 */
export function ratioMargin(
  pairs: readonly (readonly [numerator: number, denominator: number])[],
): number {
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b);
  const denominator = sum(pairs.map(([, of]) => of));
  const ratio = sum(pairs.map(([value]) => value)) / denominator;
  const squares = sum(pairs.map(([value, of]) => (value - ratio * of) ** 2));
  const freedom = pairs.length - 1;
  // Quantile of Student's distribution, within 1 % from 5 pairs on
  // (Abramowitz and Stegun, 26.7.5).
  const quantile = 1.96 + 2.372 / freedom + 2.823 / freedom ** 2;
  return (
    (quantile * Math.sqrt((squares / freedom) * pairs.length)) / denominator
  );
}

/** Returns the median of an odd number of values. */
export function median(numbers: readonly number[]): number {
  return spreadOf(numbers).p50;
}
