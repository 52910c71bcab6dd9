import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenClient } from './TokenClient';

/** What became of the questions of a load. */
export interface Tally {
  readonly answers: number;
  /** How many answers had which status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Paths whose answer with status 200 was not the right one. */
  readonly wrong: readonly string[];
}

const WORKERS = 8;

/** So that the load is steady, and the machine not saturated. */
const PAUSE_MS = 50;

/** Asks the same questions again and again, and compares their answers. */
export class SteadyLoad {
  readonly #client: TokenClient;
  readonly #truth: ReadonlyMap<string, string>;
  readonly #statuses: Record<number, number> = {};
  readonly #wrong: string[] = [];
  readonly #workers: readonly Promise<void>[];
  #answers = 0;
  #isOver = false;

  private constructor(client: TokenClient, truth: ReadonlyMap<string, string>) {
    this.#client = client;
    this.#truth = truth;
    const paths = [...truth.keys()];
    this.#workers = Array.from({ length: WORKERS }, (_, n) =>
      this.#work([...paths.slice(n), ...paths.slice(0, n)]),
    );
  }

  /** Begins; what the paths answer now is the truth. */
  static async start(
    client: TokenClient,
    paths: readonly string[],
  ): Promise<SteadyLoad> {
    const truth = new Map<string, string>();
    for (const path of paths) {
      const { status, text } = await client.ask(path);
      if (status !== 200) {
        throw new Error(`${path} answers ${status} before there is trouble`);
      }
      truth.set(path, text);
    }
    return new SteadyLoad(client, truth);
  }

  /** Answers so far. */
  get answers(): number {
    return this.#answers;
  }

  /** Waits for the last answers. */
  async stop(): Promise<Tally> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    return {
      answers: this.#answers,
      statuses: this.#statuses,
      wrong: this.#wrong,
    };
  }

  async #work(paths: readonly string[]): Promise<void> {
    for (let n = 0; !this.#isOver; n = (n + 1) % paths.length) {
      const { status, text } = await this.#client.ask(paths[n]);
      this.#answers++;
      this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
      if (status === 200 && text !== this.#truth.get(paths[n])) {
        this.#wrong.push(paths[n]);
      }
      await sleep(PAUSE_MS);
    }
  }
}
