import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'undici';
import type { Credentials } from '../credentials/Credentials';
import type { Look, ShownWrite } from './writesOf';

/** How exactly it is known when something shows. */
const LOOK_MS = 3;
/** What shows later has not been seen at all. */
const PATIENCE_MS = 10_000;
/** An answer that has been new must not be old again. */
const LOOKS_AFTER = 3;

/** What became of a write. */
export interface Showing {
  /** Milliseconds from the answer to the write to the answer that shows it. */
  readonly ms: number;
  /** Answers that neither the old nor the new directory gives. */
  readonly wrong: readonly string[];
}

/** Asks a portal until what was written shows. */
export class AnswerWatch {
  readonly #client: Client;
  readonly #credentials: Credentials;

  constructor(options: {
    readonly client: Client;
    readonly credentials: Credentials;
  }) {
    this.#client = options.client;
    this.#credentials = options.credentials;
  }

  /** Waits until every look of a write that was just made shows it. */
  async see(
    { kind, looks }: Pick<ShownWrite, 'kind' | 'looks'>,
    signal: AbortSignal,
  ): Promise<Showing> {
    const written = performance.now();
    const wrong: string[] = [];
    for (const look of looks) {
      const complaint = await this.#untilShown(look, { written, signal });
      if (complaint) {
        wrong.push(`${kind}: ${complaint}`);
      }
    }
    const ms = performance.now() - written;
    const again = wrong.length === 0 ? LOOKS_AFTER : 0;
    for (const look of Array.from({ length: again }, () => looks).flat()) {
      const { isShown, said } = await this.#look(look);
      if (!isShown) {
        wrong.push(`${kind}: ${look.path} has forgotten it: ${said}`);
      }
    }
    return { ms, wrong };
  }

  async #untilShown(
    look: Look,
    since: { readonly written: number; readonly signal: AbortSignal },
  ): Promise<string | undefined> {
    while (performance.now() - since.written < PATIENCE_MS) {
      const { isShown, status, said } = await this.#look(look);
      if (isShown) {
        return undefined;
      }
      if (status !== 200 && status !== 404) {
        return `${look.path} answered ${status}: ${said}`;
      }
      await sleep(LOOK_MS, undefined, { signal: since.signal });
    }
    return `${look.path} does not show it in ${PATIENCE_MS} ms`;
  }

  async #look({ path, status, shows }: Look) {
    await this.#credentials.prepare(1);
    const { statusCode, body } = await this.#client.request({
      method: 'GET',
      path: `/api/directory/v1${path}`,
      headers: this.#credentials.next()!.headers,
    });
    const text = await body.text();
    return {
      isShown: statusCode === status && text.includes(shows),
      status: statusCode,
      said: text.slice(0, 300),
    };
  }
}
