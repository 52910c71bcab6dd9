import type { Entity } from '@backstage/catalog-model';
import { isError } from '@backstage/errors';
import type {
  EntityProvider,
  EntityProviderConnection,
} from '@backstage/plugin-catalog-node';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import {
  CatalogEntities,
  type CatalogEntitiesOptions,
} from './CatalogEntities';
import {
  CursorExpiredError,
  type DirectoryReader,
  eachOf,
  type ReadGroup,
} from './DirectoryReader';
import type {
  DirectoryTransforms,
  DirectoryUser,
  EntityOptions,
  EntryKey,
} from './entities';
import { Organization } from './Organization';

/** Duration of a run in milliseconds. Another process may run afterwards. */
export const RUN_MS = 5 * 60_000;

/** Maximum number of entries that are read one by one. */
const MAX_READS = 500;

/** Number of entities that are built and compared at a time. */
const BATCH_SIZE = 50;

const TIMING = {
  /** Interval at which the change log is read. */
  pollMs: 500,
  /** Time after which changed entries are read again: instances may lag. */
  settleMs: 3000,
  /**
   * Time after which changed entries are read again and compared with what the
   * catalog shows: another process may have written an older state, or may have
   * been killed while it processed an entity.
   */
  confirmMs: 10 * 60_000,
  /** Pause after a failure. */
  retryMs: 5000,
};

/** Options of {@link DirectoryEntityProvider}. */
export interface DirectoryEntityProviderOptions
  extends EntityOptions, CatalogEntitiesOptions {
  readonly reader: DirectoryReader;
  readonly transforms: DirectoryTransforms;
  readonly reconciliationIntervalMs: number;
  /** Times in milliseconds that differ from the defaults. */
  readonly timing?: Partial<typeof TIMING>;
}

/**
 * Keeps the users and groups in the catalog equal to those in the directory:
 * compares all of them at the start and once a day, and reads those that the
 * change log names in between.
 */
export class DirectoryEntityProvider implements EntityProvider {
  readonly #options: DirectoryEntityProviderOptions;
  readonly #timing: typeof TIMING;
  readonly #entities: CatalogEntities;
  #organization: Organization;
  #connection: EntityProviderConnection | undefined;
  /** Position in the change log; `undefined` until all are compared. */
  #cursor: string | undefined;
  #compareAt = 0;
  /**
   * Milliseconds after which a comparison that wrote entities is repeated;
   * doubles with each repetition that also does.
   */
  #repeatMs = 0;
  /** Times at which changed entries are read again, in order. */
  readonly #settling = new Map<EntryKey, number>();
  readonly #confirming = new Map<EntryKey, number>();
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #hasFailed = false;
  #reported = '';

  constructor(options: DirectoryEntityProviderOptions) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.#organization = new Organization(options);
    this.#entities = new CatalogEntities({
      ...options,
      connection: () => this.#connection!,
    });
  }

  getProviderName(): string {
    return 'directory';
  }

  async connect(connection: EntityProviderConnection): Promise<void> {
    this.#connection = connection;
  }

  /**
   * Follows the directory for five minutes or until the signal is aborted. Does
   * nothing after {@link stop}.
   */
  async run(signal: AbortSignal): Promise<void> {
    this.#running = this.#run(AbortSignal.any([signal, this.#stopped.signal]));
    await this.#running;
  }

  /** Ends {@link run} and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const endsAt = performance.now() + RUN_MS;
    while (!signal.aborted && performance.now() < endsAt) {
      try {
        const pauseMs = await this.#step(signal);
        this.#hasFailed = false;
        await pause(pauseMs, signal);
      } catch (error) {
        if (error instanceof CursorExpiredError) {
          this.#cursor = undefined;
        } else if (!signal.aborted) {
          this.#reportFailure(error);
          await pause(this.#timing.retryMs, signal);
        }
      }
    }
  }

  #reportFailure(error: unknown): void {
    if (!this.#hasFailed) {
      this.#hasFailed = true;
      const cause = isError(error) && error.cause ? ` (${error.cause})` : '';
      this.#options.logger.warn(
        `Users and groups in the catalog are not updated: ${error}${cause}`,
      );
    }
  }

  /** Applies the next changes; returns the pause until the next step. */
  async #step(signal: AbortSignal): Promise<number> {
    const { pollMs, settleMs, confirmMs } = this.#timing;
    const now = performance.now();
    if (now >= this.#compareAt) {
      this.#cursor = undefined;
    }
    const { reader } = this.#options;
    const changes = await reader.readChanges(this.#cursor, signal);
    if (this.#cursor === undefined) {
      // The instance that serves the reads may lag behind the one that returned
      // the cursor.
      await pause(settleMs, signal);
      await this.#compare(signal);
      this.#cursor = changes.cursor;
      return pollMs;
    }
    const parents = this.#organization.parentsOf(
      namesIn(changes.keys, 'group'),
    );
    const changed = new Set([...changes.keys, ...parents]);
    const settled = dueAt(this.#settling, now);
    const unconfirmed = dueAt(this.#confirming, now);
    const keys = new Set([...changed, ...settled, ...unconfirmed]);
    if (keys.size > 0) {
      if (!(await this.#update(keys, { unconfirmed, signal }))) {
        this.#cursor = undefined;
        return pollMs;
      }
      settled.forEach(key => this.#settling.delete(key));
      unconfirmed.forEach(key => this.#confirming.delete(key));
      schedule(this.#confirming, changed, confirmMs);
      schedule(this.#settling, changed, settleMs);
      this.#scheduleMissing();
    }
    this.#cursor = changes.cursor;
    return changes.hasMore ? 0 : pollMs;
  }

  /** Compares all users and groups with the entities in the catalog. */
  async #compare(signal: AbortSignal): Promise<void> {
    const { logger, reader, reconciliationIntervalMs } = this.#options;
    const startedAt = performance.now();
    const groups = await reader.readGroups(signal);
    const organization = new Organization(this.#options);
    organization.setGroups(groups.map(({ group }) => [group.groupname, group]));
    await this.#entities.load();
    const found = new Set<EntryKey>();
    let batch = new Map<EntryKey, Entity | undefined>();
    let written = 0;
    const write = async () => {
      written += await this.#entities.update(batch, this.#timing);
      batch = new Map();
      await nextTurn();
    };
    const add = async (key: EntryKey, entity: Entity | undefined) => {
      found.add(key);
      batch.set(key, entity);
      if (batch.size === BATCH_SIZE) {
        await write();
      }
    };
    const groupsByUser = new Map<string, string[]>();
    for (const { group, members } of groups) {
      const name = group.groupname;
      for (const member of members) {
        const known = groupsByUser.get(member);
        if (known) {
          known.push(name);
        } else {
          groupsByUser.set(member, [name]);
        }
      }
      await add(`group:${name}`, await organization.groupEntity(name));
    }
    let users = 0;
    const groupsOf = (username: string) => groupsByUser.get(username) ?? [];
    for await (const user of reader.readUsers(groupsOf, signal)) {
      const { username } = user;
      users++;
      const entity = await organization.setUser(username, user);
      await add(`user:${username}`, entity);
    }
    if (users === 0) {
      throw new Error('The directory has no users');
    }
    await write();
    await this.#entities.updateMissing(key => found.has(key), this.#timing);
    this.#organization = organization;
    this.#settling.clear();
    this.#confirming.clear();
    this.#scheduleMissing();
    const isRepeated = startedAt >= this.#compareAt;
    this.#repeatMs =
      written === 0
        ? 0
        : (isRepeated && 2 * this.#repeatMs) || this.#timing.confirmMs;
    this.#compareAt =
      performance.now() +
      Math.min(this.#repeatMs || Infinity, reconciliationIntervalMs);
    this.#report();
    logger.info(
      'Reconciled users and groups in the catalog with the directory',
      {
        users,
        groups: groups.length,
        written,
        seconds: Math.round(performance.now() - startedAt) / 1000,
      },
    );
  }

  /**
   * Reads users and groups and writes what has changed. Returns whether it did:
   * if they are too many, all must be compared.
   *
   * @param options - `unconfirmed`: entries to compare with what the catalog
   *   shows
   */
  async #update(
    keys: ReadonlySet<EntryKey>,
    options: {
      readonly unconfirmed: readonly EntryKey[];
      readonly signal: AbortSignal;
    },
  ): Promise<boolean> {
    const { unconfirmed, signal } = options;
    const { reader } = this.#options;
    const organization = this.#organization;
    if (keys.size > MAX_READS) {
      return false;
    }
    const usernames = new Set(namesIn(keys, 'user'));
    const groups = new Map<string, ReadGroup | undefined>();
    await eachOf(namesIn(keys, 'group'), async name => {
      const read = await reader.readGroup(name, signal);
      groups.set(name, read);
      for (const username of organization.affectedUsers(name, read)) {
        usernames.add(username);
      }
    });
    if (usernames.size > MAX_READS) {
      return false;
    }
    const users = new Map<string, DirectoryUser | undefined>();
    await eachOf(usernames, async name => {
      users.set(name, await reader.readUser(name, signal));
    });
    // After a failure from here on, all are compared.
    this.#cursor = undefined;
    const found = new Map<EntryKey, Entity | undefined>();
    const changed = organization.setGroups(
      [...groups].map(([name, read]) => [name, read?.group]),
    );
    for (const name of changed) {
      found.set(`group:${name}`, await organization.groupEntity(name));
    }
    for (const [name, user] of users) {
      found.set(`user:${name}`, await organization.setUser(name, user));
    }
    await this.#entities.refresh(unconfirmed);
    await this.#entities.update(found, this.#timing);
    this.#report();
    return true;
  }

  /** Other changes in the meantime do not postpone the next read. */
  #scheduleMissing(): void {
    const missing = this.#entities.unsettled
      .slice(0, MAX_READS / 2)
      .filter(key => !this.#settling.has(key));
    schedule(this.#settling, missing, this.#timing.settleMs);
  }

  /** Logs new problems. */
  #report(): void {
    const problems = [
      ...this.#organization.cycles.map(
        cycle => `a cycle of groups is cut at ${cycle}`,
      ),
      ...[...this.#entities.colliding].map(
        key => `${key} has the same entity name as another user or group`,
      ),
    ].join('; ');
    if (problems !== '' && problems !== this.#reported) {
      this.#options.logger.warn(
        `The catalog cannot represent the directory: ${problems}`,
      );
    }
    this.#reported = problems;
  }
}

/** Returns the keys whose time has come. */
function dueAt(
  times: ReadonlyMap<EntryKey, number>,
  now: number,
): readonly EntryKey[] {
  const due: EntryKey[] = [];
  for (const [key, time] of times) {
    if (time > now) {
      break;
    }
    due.push(key);
  }
  return due;
}

/** Sets the time of keys, after those of all others. */
function schedule(
  times: Map<EntryKey, number>,
  keys: Iterable<EntryKey>,
  delayMs: number,
): void {
  const time = performance.now() + delayMs;
  for (const key of keys) {
    times.delete(key);
    times.set(key, time);
  }
}

function namesIn(
  keys: ReadonlySet<EntryKey>,
  kind: 'user' | 'group',
): readonly string[] {
  return [...keys]
    .filter(key => key.startsWith(`${kind}:`))
    .map(key => key.slice(kind.length + 1));
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal, ref: false }).catch(() => {});
}
