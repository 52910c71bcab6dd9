import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Client } from 'undici';
import type { Credential, Credentials } from '../credentials/Credentials';
import type { DrawnRequest } from '../questions/Question';

const API = '/api/directory/v1';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** What a run of requests came to. */
export interface Sample {
  readonly requests: number;
  readonly seconds: number;
  /** Time from sending a request to having read its answer, in nanoseconds. */
  readonly latencies: RecordableHistogram;
}

/** What is asked, as whom, on how many connections, for how long. */
export interface LoopRun {
  readonly credentials: Credentials;
  readonly draw: (username: string) => DrawnRequest;
  readonly connections: number;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/**
 * Asks on a number of connections at once, on each one request after another.
 * Every answer is checked: a fast wrong one is worth nothing.
 */
export class ClosedLoop {
  readonly #clients: readonly Client[];
  readonly #below: string;
  #requests = 0;

  /**
   * @param options - the server, as `http://127.0.0.1:40123`, below which path
   * it is asked, and how many connections to it there will be at most
   */
  constructor(options: {
    readonly origin: string;
    /** Default: the API's own, `/api/directory/v1`. */
    readonly below?: string;
    readonly connections: number;
  }) {
    this.#below = options.below ?? API;
    this.#clients = Array.from(
      { length: options.connections },
      () => new Client(options.origin, { pipelining: 1 }),
    );
  }

  /** How many it has made since it is there. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * Ends when its time is over or the credentials are used up.
   *
   * @throws Error that says what was answered instead of the right thing
   */
  async run(options: LoopRun): Promise<Sample> {
    const { credentials, draw, connections, ms, signal } = options;
    const latencies = createHistogram();
    const start = performance.now();
    const askInTurn = async (client: Client) => {
      while (performance.now() - start < ms) {
        signal.throwIfAborted();
        const credential = credentials.next();
        if (!credential) {
          return;
        }
        const drawn = draw(credential.username);
        const sent = process.hrtime.bigint();
        await this.#ask(client, credential, drawn);
        latencies.record(process.hrtime.bigint() - sent);
        this.#requests++;
      }
    };
    await Promise.all(this.#clients.slice(0, connections).map(askInTurn));
    return {
      requests: latencies.count,
      seconds: (performance.now() - start) / 1000,
      latencies,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map(client => client.destroy()));
  }

  async #ask(
    client: Client,
    credential: Credential,
    { path, form, expected }: DrawnRequest,
  ): Promise<void> {
    const method = form === undefined ? 'GET' : 'POST';
    const { statusCode, body } = await client.request({
      method,
      path: `${this.#below}${path}`,
      headers: { ...credential.headers, ...(form !== undefined && FORM) },
      body: form,
    });
    const text = await body.text();
    const missing = expected.find(part => !text.includes(part));
    if (statusCode !== 200 || missing !== undefined) {
      throw new Error(
        `${method} ${path} answered ${statusCode} without ${
          missing ?? 'the right status'
        }: ${text.slice(0, 500)}`,
      );
    }
  }
}
