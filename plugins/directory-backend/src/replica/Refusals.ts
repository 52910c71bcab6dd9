import type {
  DatabaseService,
  LifecycleService,
  LoggerService,
} from '@backstage/backend-plugin-api';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrateDirectoryDatabase } from '../migrateDirectoryDatabase';
import type { Replica } from './Replica';

const TABLE = 'directory_refusals';

/** How soon a process learns that what it refuses has been accepted. */
const EXCHANGE_MS = 1000;

/** A process that has not renewed its refusal for so long has died. */
const REFUSAL_HOLDS_MS = 60_000;

/** Knex, as Backstage hands it out. */
type Database = Awaited<ReturnType<DatabaseService['getClient']>>;

/** What the refusals of one process are made of. */
interface RefusalsOptions {
  readonly replica: Pick<Replica, 'refusal' | 'acceptShrinkage'>;
  readonly logger: LoggerService;
}

/**
 * Which processes of the portal do not believe the directory, in the portal's
 * database: each has a copy and an opinion of its own, and an administrator
 * speaks to one of them and means all. While none refuses, nothing is asked.
 */
export class Refusals {
  readonly #database: Database;
  readonly #options: RefusalsOptions;
  readonly #processId = randomUUID();
  #isOnRecord = false;
  #isInTrouble = false;

  private constructor(database: Database, options: RefusalsOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** Brings its table up to date, unless the site does that itself. */
  static async create(
    options: RefusalsOptions & { readonly database: DatabaseService },
  ): Promise<Refusals> {
    const database = await migrateDirectoryDatabase(options.database);
    return new Refusals(database, options);
  }

  /** Exchanges every second, one at a time, until the plugin ends. */
  keep(lifecycle: LifecycleService): void {
    const ended = new AbortController();
    lifecycle.addShutdownHook(() => ended.abort());
    this.#exchangeUntil(ended.signal);
  }

  async #exchangeUntil(ended: AbortSignal): Promise<void> {
    const options = { signal: ended, ref: false };
    while (!ended.aborted) {
      await this.exchange();
      await sleep(EXCHANGE_MS, undefined, options).catch(() => {});
    }
  }

  /**
   * Puts on record what this process refuses, and accepts it when another was
   * told so. What fails is tried again the next time.
   */
  async exchange(): Promise<void> {
    const { replica, logger } = this.#options;
    try {
      if (replica.refusal) {
        await this.#record(replica.refusal);
      } else if (this.#isOnRecord) {
        await this.#table().where(this.#own).delete();
        this.#isOnRecord = false;
      }
      this.#isInTrouble = false;
    } catch (error) {
      if (!this.#isInTrouble) {
        logger.warn(`Other processes are not told of a refusal: ${error}`);
      }
      this.#isInTrouble = true;
    }
  }

  /**
   * Has every process that refuses the directory now accept it, this one at
   * once and the others in a second.
   *
   * @returns what was refused, each once
   */
  async acceptAll(): Promise<readonly string[]> {
    const { replica } = this.#options;
    const { refusal } = replica;
    if (refusal) {
      replica.acceptShrinkage();
    }
    const now = Date.now();
    const others = await this.#table()
      .whereNot(this.#own)
      .where('seen_at', '>=', new Date(now - REFUSAL_HOLDS_MS))
      .update({ accepted_at: new Date(now) })
      .returning<{ refusal: string }[]>('refusal');
    return [
      ...new Set([
        ...(refusal ? [refusal] : []),
        ...others.map(other => other.refusal),
      ]),
    ];
  }

  async #record(refusal: string): Promise<void> {
    const now = Date.now();
    const state = { refusal, seen_at: new Date(now) };
    await this.#table()
      .insert({ ...this.#own, ...state })
      .onConflict('process_id')
      .merge(state);
    this.#isOnRecord = true;
    const accepted = await this.#table()
      .where(this.#own)
      .whereNotNull('accepted_at')
      .update({ accepted_at: null });
    if (accepted === 1) {
      this.#options.replica.acceptShrinkage();
    }
    await this.#table()
      .where('seen_at', '<', new Date(now - REFUSAL_HOLDS_MS))
      .delete();
  }

  get #own() {
    return { process_id: this.#processId };
  }

  #table() {
    return this.#database(TABLE);
  }
}
