import autocannon from 'autocannon';

/** A request that is sent under load. Default of the method: `GET`. */
export type LoadRequest = autocannon.Request;

/** Responses of a run. */
export interface Sample {
  /**
   * Responses per second. The last tenth of the responses does not count,
   * because some connections have then finished.
   */
  readonly rate: number;
  /** Milliseconds of each response. */
  readonly latencies: readonly number[];
  /** Mean length of the response bodies in bytes. */
  readonly bytes: number;
  /** Messages of requests without a response and of responses without a 200. */
  readonly errors: readonly string[];
}

/** Interval at which autocannon checks for the end of a run. */
const SAMPLE_MS = 20;
const COUNTED = 0.9;

/**
 * Sends requests with autocannon, sequentially on each connection.
 *
 * @param options.limit - number of requests, or duration in seconds
 * @param options.next - called once for each request
 */
export async function send(options: {
  readonly origin: string;
  readonly connections: number;
  readonly limit: { readonly amount: number } | { readonly duration: number };
  readonly next: () => LoadRequest;
}): Promise<Sample> {
  const { origin, connections, limit, next } = options;
  const latencies: number[] = [];
  const times: number[] = [];
  const errors: string[] = [];
  let bytes = 0;
  const request: autocannon.Request = {
    setupRequest(defaults) {
      const each = next();
      // autocannon adds Content-Length to the headers.
      return { ...defaults, ...each, headers: { ...each.headers } };
    },
    onResponse(status, body) {
      bytes += Buffer.byteLength(body);
      if (status !== 200) {
        errors.push(`${status}: ${body}`);
      }
    },
  };
  const startedAt = performance.now();
  await new Promise<void>((resolve, reject) => {
    const instance = autocannon(
      {
        url: origin,
        connections,
        ...limit,
        sampleInt: SAMPLE_MS,
        requests: [request],
      },
      error => (error ? reject(error) : resolve()),
    );
    instance.on('response', (_client, _status, _bytes, milliseconds) => {
      latencies.push(milliseconds);
      times.push(performance.now());
    });
    instance.on('reqError', error => errors.push(String(error)));
  });
  const counted = Math.ceil(COUNTED * times.length);
  return {
    rate: (1000 * counted) / (times[counted - 1] - startedAt),
    latencies,
    bytes: bytes / times.length,
    errors,
  };
}
