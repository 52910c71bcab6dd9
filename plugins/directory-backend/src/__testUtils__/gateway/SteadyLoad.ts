import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './GatewayClient';

/** A caller of the gateway: `TokenClient`, `CookieClient` or `TicketClient`. */
export interface LoadClient {
  /** `path` is below `/api/directory`, encoded. */
  ask(path: string): Promise<Pick<Answer, 'status' | 'text'>>;
}

/** The result of a load, for one client. */
export interface Tally {
  readonly responses: number;
  /** Number of responses per status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Paths with a wrong response of status 200. */
  readonly wrong: readonly string[];
  /** Duration of the slowest request in milliseconds. */
  readonly slowestMs: number;
}

const WORKERS = 8;

/** Keeps the load steady without saturating the machine. */
const PAUSE_MS = 50;

/** The part of one client. */
class ClientLoad {
  readonly #client: LoadClient;
  readonly #truth: ReadonlyMap<string, string>;
  readonly #statuses: Record<number, number> = {};
  readonly #wrong: string[] = [];
  readonly #workers: readonly Promise<void>[];
  #responses = 0;
  #slowestMs = 0;
  #isOver = false;

  constructor(
    client: LoadClient,
    truth: ReadonlyMap<string, string>,
    workers: number,
  ) {
    this.#client = client;
    this.#truth = truth;
    const paths = [...truth.keys()];
    this.#workers = Array.from({ length: workers }, (_, n) =>
      this.#work([...paths.slice(n), ...paths.slice(0, n)]),
    );
  }

  async progress(responses: number): Promise<void> {
    const target = this.#responses + responses;
    while (this.#responses < target) {
      await sleep(5);
    }
  }

  async stop(): Promise<Tally> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    return {
      responses: this.#responses,
      statuses: this.#statuses,
      wrong: this.#wrong,
      slowestMs: this.#slowestMs,
    };
  }

  async #work(paths: readonly string[]): Promise<void> {
    for (let n = 0; !this.#isOver; n = (n + 1) % paths.length) {
      const startedAt = performance.now();
      const { status, text } = await this.#client.ask(paths[n]);
      this.#slowestMs = Math.max(
        this.#slowestMs,
        performance.now() - startedAt,
      );
      this.#responses++;
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
      if (status === 200 && text !== this.#truth.get(paths[n])) {
        this.#wrong.push(paths[n]);
      }
      await sleep(PAUSE_MS);
    }
  }
}

/** Repeats the same requests by each client and compares their responses. */
export class SteadyLoad {
  readonly #clients: readonly ClientLoad[];

  private constructor(clients: readonly ClientLoad[]) {
    this.#clients = clients;
  }

  /**
   * Starts a load; the responses of an undisturbed gateway are the truth.
   *
   * @param options - `workers`: concurrent requests per client. Default 8
   */
  static async start(
    clients: readonly LoadClient[],
    paths: readonly string[],
    options: { readonly workers?: number } = {},
  ): Promise<SteadyLoad> {
    const truths = await Promise.all(
      clients.map(client => readTruth(client, paths)),
    );
    return new SteadyLoad(
      clients.map(
        (client, n) =>
          new ClientLoad(client, truths[n], options.workers ?? WORKERS),
      ),
    );
  }

  /**
   * Waits until each client has this many more responses: unlike a sleep, that
   * lets the load make the same progress on a slow machine. A number of seconds
   * is only for an outage that must last as long.
   */
  async progress(amount: number | { readonly seconds: number }): Promise<void> {
    if (typeof amount === 'object') {
      await sleep(amount.seconds * 1000);
      return;
    }
    await Promise.all(this.#clients.map(client => client.progress(amount)));
  }

  /**
   * Waits for the last responses.
   *
   * @returns one tally per client, in the order of the clients
   */
  async stop(): Promise<readonly Tally[]> {
    return Promise.all(this.#clients.map(client => client.stop()));
  }
}

async function readTruth(
  client: LoadClient,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const truth = new Map<string, string>();
  for (const path of paths) {
    const { status, text } = await client.ask(path);
    if (status !== 200) {
      throw new Error(`${path} returns ${status} before the load`);
    }
    truth.set(path, text);
  }
  return truth;
}
