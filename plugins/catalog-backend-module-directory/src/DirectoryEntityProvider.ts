import type { Entity } from '@backstage/catalog-model';
import { isError } from '@backstage/errors';
import type {
  EntityProvider,
  EntityProviderConnection,
} from '@backstage/plugin-catalog-node';
import { isDirectoryResponseError } from '@directory-gateway/backstage-plugin-directory-common';
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
  /** Time in which a new portal may fail without a warning. */
  startMs: 60_000,
  /** Interval at which all entities are compared. */
  compareMs: 24 * 60 * 60_000,
};

/** Options of {@link DirectoryEntityProvider}. */
export interface DirectoryEntityProviderOptions
  extends EntityOptions, Omit<CatalogEntitiesOptions, 'connection'> {
  readonly reader: DirectoryReader;
  readonly transforms: DirectoryTransforms;
  /** Times in milliseconds that differ from the defaults. */
  readonly timing?: Partial<typeof TIMING>;
}

/** Changed users and groups to read again. */
interface Reread {
  readonly at: number;
  readonly keys: readonly EntryKey[];
  /** Whether to compare them with what the catalog shows. */
  readonly isConfirmed?: boolean;
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
  /** Time of the next comparison. */
  #compareAt = 0;
  #rereads: readonly Reread[] = [];
  readonly #stopped = new AbortController();
  #running: Promise<void> = Promise.resolve();
  readonly #createdAt = performance.now();
  /** Level at which the current failure was logged. */
  #reported: 'info' | 'warn' | undefined;

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
        this.#reported = undefined;
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

  /**
   * Logs a failure once. While a portal starts, its change log is not available
   * before all entries are recorded.
   */
  #reportFailure(error: unknown): void {
    const isStarting =
      this.#compareAt === 0 &&
      performance.now() - this.#createdAt < this.#timing.startMs &&
      isDirectoryResponseError(error) &&
      error.status === 503;
    const level = isStarting ? 'info' : 'warn';
    if (this.#reported !== 'warn' && this.#reported !== level) {
      this.#reported = level;
      const cause = isError(error) && error.cause ? ` (${error.cause})` : '';
      this.#options.logger[level](
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
    const changes = await this.#options.reader.readChanges(
      this.#cursor,
      signal,
    );
    if (this.#cursor === undefined) {
      // The instance that serves the reads may lag behind the one that returned
      // the cursor.
      await pause(settleMs, signal);
      await this.#compare(signal);
      this.#cursor = changes.cursor;
      return pollMs;
    }
    const due = this.#rereads.filter(({ at }) => at <= now);
    const keys = new Set([...changes.keys, ...due.flatMap(each => each.keys)]);
    if (keys.size > 0) {
      const confirmed = due.filter(({ isConfirmed }) => isConfirmed);
      const shown = new Set(confirmed.flatMap(each => each.keys));
      if (!(await this.#update(keys, shown, signal))) {
        this.#cursor = undefined;
        return pollMs;
      }
      const later = this.#rereads.filter(each => !due.includes(each));
      const scheduled = new Set(
        later.flatMap(each => (each.isConfirmed ? [] : each.keys)),
      );
      const missing = this.#entities.missing.filter(key => !scheduled.has(key));
      this.#rereads = [
        ...later,
        { at: now + settleMs, keys: [...changes.keys, ...missing] },
        { at: now + confirmMs, keys: [...changes.keys], isConfirmed: true },
      ].filter(reread => reread.keys.length > 0);
    }
    this.#cursor = changes.cursor;
    return changes.hasMore ? 0 : pollMs;
  }

  /** Compares all users and groups with the entities in the catalog. */
  async #compare(signal: AbortSignal): Promise<void> {
    const { logger, reader } = this.#options;
    const { settleMs, confirmMs, compareMs } = this.#timing;
    const startedAt = performance.now();
    const groups = await reader.readGroups(signal);
    const organization = new Organization(this.#options);
    const groupsByUser = new Map<string, string[]>();
    for (const { group, members } of groups) {
      organization.setGroup(group.groupname, group);
      for (const member of members) {
        const names = groupsByUser.get(member) ?? [];
        groupsByUser.set(member, names);
        names.push(group.groupname);
      }
    }
    await this.#entities.load();
    const found = new Set<EntryKey>();
    let batch = new Map<EntryKey, Entity | undefined>();
    const written: EntryKey[] = [];
    const write = async () => {
      written.push(...(await this.#entities.update(batch, this.#timing)));
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
    for (const { group } of groups) {
      const { groupname } = group;
      await add(
        `group:${groupname}`,
        await organization.groupEntity(groupname),
      );
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
    for (const key of this.#entities.keysWithout(found)) {
      batch.set(key, undefined);
    }
    await write();
    this.#organization = organization;
    const comparedAt = performance.now();
    this.#rereads = [
      { at: comparedAt + settleMs, keys: this.#entities.missing },
      { at: comparedAt + confirmMs, keys: written, isConfirmed: true },
    ];
    this.#compareAt = comparedAt + compareMs;
    logger.info(
      'Reconciled users and groups in the catalog with the directory',
      {
        users,
        groups: groups.length,
        written: written.length,
        seconds: Math.round(performance.now() - startedAt) / 1000,
      },
    );
  }

  /**
   * Reads users and groups and writes what has changed. Returns whether it did:
   * if they are too many, all must be compared.
   *
   * @param shown - entries to compare with what the catalog shows
   */
  async #update(
    keys: ReadonlySet<EntryKey>,
    shown: ReadonlySet<EntryKey>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { reader } = this.#options;
    const organization = this.#organization;
    const usernames = new Set(namesIn(keys, 'user'));
    const groupnames = namesIn(organization.withParents(keys), 'group');
    if (usernames.size + groupnames.length > MAX_READS) {
      return false;
    }
    const groups = new Map<string, ReadGroup | undefined>();
    await eachOf(groupnames, async name => {
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
    for (const [name, read] of groups) {
      organization.setGroup(name, read?.group);
    }
    const found = new Map<EntryKey, Entity | undefined>();
    for (const name of groupnames) {
      found.set(`group:${name}`, await organization.groupEntity(name));
    }
    for (const [name, user] of users) {
      found.set(`user:${name}`, await organization.setUser(name, user));
    }
    await this.#entities.refresh(shown);
    await this.#entities.update(found, this.#timing);
    return true;
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
