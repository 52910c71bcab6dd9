import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientResponse } from './GatewayClient';

/** Sends GET requests to paths below `/api/directory`. */
export interface LoadClient {
  request(path: string): Promise<Pick<ClientResponse, 'status' | 'text'>>;
}

/** Results of a load for one client. */
export interface Tally {
  readonly responses: number;
  /** Number of responses per status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Paths whose 200 response had an unexpected body. */
  readonly wrong: readonly string[];
}

/** Pause that keeps the load steady without saturating the machine. */
const PAUSE_MS = 50;

/** The load of one client. */
class ClientLoad {
  readonly #client: LoadClient;
  readonly #expected: ReadonlyMap<string, string>;
  readonly #workers: readonly Promise<void>[];
  readonly #tally = {
    responses: 0,
    statuses: {} as Record<number, number>,
    wrong: [] as string[],
  };
  #isStopped = false;

  static async start(
    client: LoadClient,
    paths: readonly string[],
    workers: number,
  ): Promise<ClientLoad> {
    const expected = new Map<string, string>();
    for (const path of paths) {
      const { status, text } = await client.request(path);
      if (status !== 200) {
        throw new Error(`${path} returns ${status} before the load`);
      }
      expected.set(path, text);
    }
    return new ClientLoad(client, expected, workers);
  }

  private constructor(
    client: LoadClient,
    expected: ReadonlyMap<string, string>,
    workers: number,
  ) {
    this.#client = client;
    this.#expected = expected;
    const paths = [...expected.keys()];
    this.#workers = Array.from({ length: workers }, (_, n) =>
      this.#work([...paths.slice(n), ...paths.slice(0, n)]),
    );
  }

  async progress(responses: number): Promise<void> {
    const target = this.#tally.responses + responses;
    while (this.#tally.responses < target) {
      await sleep(5);
    }
  }

  async stop(): Promise<Tally> {
    this.#isStopped = true;
    await Promise.all(this.#workers);
    return this.#tally;
  }

  async #work(paths: readonly string[]): Promise<void> {
    const tally = this.#tally;
    for (let n = 0; !this.#isStopped; n = (n + 1) % paths.length) {
      const { status, text } = await this.#client.request(paths[n]);
      tally.responses++;
      tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
      if (status === 200 && text !== this.#expected.get(paths[n])) {
        tally.wrong.push(paths[n]);
      }
      await sleep(PAUSE_MS);
    }
  }
}

/** Repeats the same requests with each client and compares their responses. */
export class SteadyLoad {
  readonly #clients: readonly ClientLoad[];

  private constructor(clients: readonly ClientLoad[]) {
    this.#clients = clients;
  }

  /**
   * Starts a load. The responses before it are the expected ones.
   *
   * @param options - `workers`: concurrent requests per client. Default: 8
   */
  static async start(
    clients: readonly LoadClient[],
    paths: readonly string[],
    { workers = 8 }: { readonly workers?: number } = {},
  ): Promise<SteadyLoad> {
    return new SteadyLoad(
      await Promise.all(
        clients.map(client => ClientLoad.start(client, paths, workers)),
      ),
    );
  }

  /**
   * Waits until each client has received this many further responses. Unlike a
   * sleep, this lets the load make the same progress on a slow machine. A
   * number of seconds is only for an outage of a given duration.
   */
  async progress(amount: number | { readonly seconds: number }): Promise<void> {
    if (typeof amount === 'object') {
      await sleep(amount.seconds * 1000);
      return;
    }
    await Promise.all(this.#clients.map(client => client.progress(amount)));
  }

  /**
   * Stops the load and waits for the last responses.
   *
   * @returns one tally per client, in the order of the clients
   */
  async stop(): Promise<readonly Tally[]> {
    return Promise.all(this.#clients.map(client => client.stop()));
  }
}
