import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenClient } from './TokenClient';

/** The result of a load. */
export interface Tally {
  readonly responses: number;
  /** Number of responses per status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Paths with a wrong response of status 200. */
  readonly wrong: readonly string[];
}

const WORKERS = 8;

/** Keeps the load steady without saturating the machine. */
const PAUSE_MS = 50;

/** Repeats the same requests and compares their responses. */
export class SteadyLoad {
  readonly #client: TokenClient;
  readonly #truth: ReadonlyMap<string, string>;
  readonly #statuses: Record<number, number> = {};
  readonly #wrong: string[] = [];
  readonly #workers: readonly Promise<void>[];
  #responses = 0;
  #isOver = false;

  private constructor(client: TokenClient, truth: ReadonlyMap<string, string>) {
    this.#client = client;
    this.#truth = truth;
    const paths = [...truth.keys()];
    this.#workers = Array.from({ length: WORKERS }, (_, n) =>
      this.#work([...paths.slice(n), ...paths.slice(0, n)]),
    );
  }

  /** Starts a load; the responses of an undisturbed gateway are the truth. */
  static async start(
    client: TokenClient,
    paths: readonly string[],
  ): Promise<SteadyLoad> {
    const truth = new Map<string, string>();
    for (const path of paths) {
      const { status, text } = await client.ask(path);
      if (status !== 200) {
        throw new Error(`${path} returns ${status} before the load`);
      }
      truth.set(path, text);
    }
    return new SteadyLoad(client, truth);
  }

  /**
   * Waits for this many more responses: unlike a sleep, that lets the load make
   * the same progress on a slow machine.
   */
  async progress(responses: number): Promise<void> {
    const target = this.#responses + responses;
    while (this.#responses < target) {
      await sleep(5);
    }
  }

  /** Waits for the last responses. */
  async stop(): Promise<Tally> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    return {
      responses: this.#responses,
      statuses: this.#statuses,
      wrong: this.#wrong,
    };
  }

  async #work(paths: readonly string[]): Promise<void> {
    for (let n = 0; !this.#isOver; n = (n + 1) % paths.length) {
      const { status, text } = await this.#client.ask(paths[n]);
      this.#responses++;
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
      if (status === 200 && text !== this.#truth.get(paths[n])) {
        this.#wrong.push(paths[n]);
      }
      await sleep(PAUSE_MS);
    }
  }
}
