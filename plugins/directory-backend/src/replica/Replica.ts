import type { LoggerService } from '@backstage/backend-plugin-api';
import { stringifyError } from '@backstage/errors';
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from 'node:timers/promises';
import { createTables, type ReplicaTables } from './ReplicaTables';
import { TableWriter } from './TableWriter';
import type {
  ReplicaKeys,
  ReplicaPortion,
  ReplicaSource,
  ReplicaTime,
} from './ReplicaSource';

/** The directory is looked at as often as its clock is believed. */
const LOOK_MS = 250;

/** After a failure, growing from one to the other. */
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;

/** As long as a proof of rights holds by default. */
const PROOF_HOLDS_MS = 60_000;

/** Whoever was answered by the directory itself has been answered by then. */
const SETTLED_AFTER_MS = 60_000;

/** In a small directory these few are a large share. */
const MAY_BE_GONE = 10;

/** How a copy is kept. */
export interface ReplicaOptions {
  readonly source: ReplicaSource;
  readonly logger: LoggerService;
  /** A copy that is older than so many milliseconds is not used. */
  readonly maxStalenessMs: number;
  /** With a larger share of entries gone a full reading is not believed, 0 to 1. */
  readonly maxShrinkage: number;
  /** Called when the copy has been in use for a minute without a break. */
  readonly onSettled?: () => void;
  /** Milliseconds between proofs that changes can be found. Default: 60,000. */
  readonly proofIntervalMs?: number;
}

/**
 * A copy of the directory's users, groups and agreements, kept as it is there:
 * changes by their numbers, what is gone by listening. Between two servers, or
 * when the listening has broken off, it is not used until it has been compared.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly tables: ReplicaTables = createTables();
  #time: ReplicaTime | undefined;
  #provenAt = -Infinity;
  /** Since when it has been usable without a break. */
  #usableSince = Infinity;
  #numbersProvenAt = -Infinity;
  #hush: (() => void) | undefined;
  readonly #writer = new TableWriter(this.tables);
  readonly #stopped = new AbortController();
  #refusal: string | undefined;
  #isAccepted = false;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  /** Milliseconds since the copy was last known to be what the directory is. */
  get ageMs(): number {
    return performance.now() - this.#provenAt;
  }

  /** Whether it may be read now. */
  get isUsable(): boolean {
    return this.ageMs <= this.#options.maxStalenessMs;
  }

  /**
   * Why what the directory says of itself is not believed, if that is so: then
   * the directory itself must not be read in place of the copy either.
   */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Believes the directory the next time, however little it has. */
  acceptShrinkage(): void {
    this.#isAccepted = true;
  }

  /** Copies, and follows until {@link stop}. */
  async follow(): Promise<void> {
    const { signal } = this.#stopped;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#look();
        if (failures > 0) {
          this.#options.logger.info('The directory is followed again');
        }
        failures = 0;
      } catch (error) {
        // It may be a lost right, in whose absence private entries were read
        // as public ones: nothing that was read is believed, all is read anew.
        this.#time = undefined;
        if (failures++ === 0 && !signal.aborted) {
          this.#options.logger.warn(
            `The directory cannot be followed: ${stringifyError(error)}`,
          );
        }
      }
      await pause(failures, signal);
    }
  }

  stop(): void {
    this.#stopped.abort();
    this.#hush?.();
    this.#provenAt = -Infinity;
  }

  async #look(): Promise<void> {
    const { source } = this.#options;
    const time = await source.time();
    if (time.usn === undefined) {
      throw new Error('The server does not count its writes (USN plugin)');
    }
    const isKnown = this.#time?.era === time.era;
    if (!this.#hush) {
      await this.#listen(time.server);
      await this.#compare(time, { isKnown });
    } else if (!isKnown) {
      this.#deafen();
      return this.#look();
    } else if (this.#time!.usn !== time.usn || isUnsettled(this.#time!)) {
      await this.#readChanges(time);
    }
    await this.#proveNumbers();
    if (this.#hush) {
      this.#time = time;
      this.#prove(time.askedAt);
    }
    return undefined;
  }

  #prove(at: number): void {
    const now = performance.now();
    if (!this.isUsable) {
      this.#usableSince = now;
    } else if (now - this.#usableSince >= SETTLED_AFTER_MS) {
      this.#usableSince = Infinity;
      this.#options.onSettled?.();
    }
    this.#provenAt = at;
  }

  async #proveNumbers(): Promise<void> {
    const { source, proofIntervalMs = PROOF_HOLDS_MS } = this.#options;
    const now = performance.now();
    if (now - this.#numbersProvenAt < proofIntervalMs) {
      return;
    }
    await source.proveNumbers();
    this.#numbersProvenAt = now;
  }

  async #listen(server: string): Promise<void> {
    this.#hush = await this.#options.source.listen(server, {
      onGone: key => this.#writer.remove(key),
      onLost: error => {
        this.#deafen();
        this.#options.logger.warn(
          `The directory's changes are no longer heard: ${error.message}`,
        );
      },
    });
  }

  #deafen(): void {
    this.#hush?.();
    this.#hush = undefined;
    this.#provenAt = -Infinity;
  }

  /** What was heard is worth nothing until all before it is known. */
  async #compare(
    time: ReplicaTime,
    { isKnown }: { readonly isKnown: boolean },
  ): Promise<void> {
    try {
      await (isKnown ? this.#catchUp(time) : this.#rebuild(time));
    } catch (error) {
      this.#deafen();
      throw error;
    }
  }

  async #rebuild(time: ReplicaTime): Promise<void> {
    const askedAt = performance.now();
    // Straight into the tables: nobody reads them until all is there.
    const keys = await this.#options.source.readAll(portion =>
      this.#writer.take(portion, askedAt),
    );
    this.#expect(keys, time);
    this.#believe(keys);
    await this.#writer.keepOnly(keys);
    await this.tables.users.gather();
    const { users, groups, agreements } = keys;
    this.#options.logger.info('The directory is copied', {
      ...{
        users: users.size,
        groups: groups.size,
        agreements: agreements.size,
      },
      seconds: Math.round(performance.now() - askedAt) / 1000,
    });
  }

  /** What has changed while nobody listened. */
  async #catchUp(time: ReplicaTime): Promise<void> {
    await this.#readChanges(time);
    const keys = await this.#options.source.readKeys();
    this.#expect(keys, time);
    this.#believe(keys);
    await this.#writer.keepOnly(keys);
  }

  async #readChanges(time: ReplicaTime): Promise<void> {
    const askedAt = performance.now();
    const from = (this.#time!.settledUsn ?? 0) + 1;
    const portions: ReplicaPortion[] = [];
    const keys = await this.#options.source.readChanges(from, portion =>
      portions.push(portion),
    );
    // What another server has may be older, and the copy is in use.
    this.#expect(keys, time);
    for (const portion of portions) {
      this.#writer.take(portion, askedAt);
      await nextTurn();
    }
    await this.tables.users.gather();
  }

  /** Numbers mean something else on another server. */
  #expect({ server }: { readonly server: string }, time: ReplicaTime): void {
    if (server !== time.server) {
      throw new Error('Another server has answered');
    }
  }

  /**
   * @throws Error when there is much less than there was: a directory whose
   *   access rules have been broken answers so, and calls it success.
   */
  #believe(read: Pick<ReplicaKeys, 'users' | 'groups'>): void {
    const { users, groups } = this.tables;
    const isTooLittle =
      !this.#isAccepted &&
      (read.users.size === 0 ||
        this.#isMuchLess(read.users.size, users.served.size) ||
        this.#isMuchLess(read.groups.size, groups.size));
    this.#refusal = isTooLittle
      ? `The directory has ${read.users.size} users and ${read.groups.size} groups all at once, where it had ${users.served.size} and ${groups.size}`
      : undefined;
    if (this.#refusal) {
      throw new Error(this.#refusal);
    }
    this.#isAccepted = false;
  }

  #isMuchLess(now: number, before: number): boolean {
    const gone = before - now;
    return gone > MAY_BE_GONE && gone > before * this.#options.maxShrinkage;
  }
}

function isUnsettled(time: ReplicaTime): boolean {
  return time.usn !== time.settledUsn;
}

async function pause(failures: number, signal: AbortSignal): Promise<void> {
  const ms =
    failures === 0
      ? LOOK_MS
      : Math.min(MIN_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
