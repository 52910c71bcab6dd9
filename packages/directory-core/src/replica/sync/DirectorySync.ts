import {
  BackgroundChecks,
  type BackgroundChecksOptions,
} from './BackgroundChecks';
import { ChangeReader } from './ChangeReader';
import type { EntryCounts, MassDeletionGuard } from './MassDeletionGuard';
import { PendingReads } from './PendingReads';
import {
  type CurrentPosition,
  expectServer,
  type ListedIds,
  type PositionOrder,
  type ReplicaIds,
  type ReplicaSource,
} from './ReplicaSource';
import type { EntryRef } from '../tables/entries';
import { ALIAS_MS } from '../tables/ReplicaTables';
import type { ReplicaState } from './ReplicaState';
import { StricterValues } from './StricterValues';
import { countByKind, type TableCheck } from './TableCheck';
import {
  type RelinkedEntry,
  TableWriter,
  type WrittenEntries,
} from './TableWriter';

/** Pause after a full sync, as a multiple of its duration. */
const PAUSE_PER_SYNC = 1;

/** Minimum interval between full syncs of a server without positions. */
const FULL_SYNC_INTERVAL_MS = 60_000;

/** The same, as a multiple of the duration of a full sync. */
const FULL_SYNC_INTERVAL_PER_DURATION = 4;

/**
 * Maximum number of missing entries that are read again before a deletion. If
 * there are more, those that the directory lists are read with the next poll.
 */
const MAX_CONFIRMED_DELETIONS = 50;

/** Number of entries above which further ones are read with the next poll. */
const MAX_READ = 500;

/**
 * Delay after which groups are read again that link to a moved or deleted
 * entry. Some servers rewrite these links later, without a new position.
 */
const RELINK_MS = 2000;

/** Times at which groups are read again that link to an entry. */
const RELINK_DELAYS_MS: Readonly<
  Record<RelinkedEntry['reason'], readonly number[]>
> = {
  deleted: [RELINK_MS],
  renamed: [RELINK_MS, ALIAS_MS],
  replaced: [0],
};

/** How the replica follows a server. */
export type ReplicaMode =
  /** By the server's positions. */
  | 'changes'
  /** By full syncs at an interval. */
  | 'full';

/** Observes writes to the tables. */
export interface TableObserver {
  /** Called in the turn in which entries may have changed. */
  onWrite(written: WrittenEntries): void;
  /** Called in the same turn in which the tables are known to match. */
  onConfirmed(position: CurrentPosition): void;
}

/** Options of {@link DirectorySync}. */
export interface DirectorySyncOptions extends Pick<
  BackgroundChecksOptions,
  'tables' | 'logger' | 'checkIntervalMs'
> {
  readonly source: ReplicaSource;
  readonly guard: MassDeletionGuard;
  readonly state: ReplicaState;
  /** Age in milliseconds above which the replica is not read. */
  readonly maxStalenessMs: number;
  readonly observers: Iterable<TableObserver>;
  /** Suspends reads if the error requires it. */
  readonly suspendFor: (error: unknown) => void;
  /**
   * Milliseconds between full syncs of a server without positions. Default: one
   * minute.
   */
  readonly syncIntervalMs?: number;
  /** Milliseconds for which stricter values are kept. Default: 10 minutes. */
  readonly holdMs?: number;
}

/**
 * Keeps the tables in sync with one server of the directory: polls its
 * position, reads what was written since, and compares stable IDs when that
 * does not explain all writes.
 */
export class DirectorySync {
  readonly stricter: StricterValues;
  readonly #options: DirectorySyncOptions;
  readonly #pending = new PendingReads();
  readonly #writer: TableWriter;
  readonly #checks: BackgroundChecks;
  #mode: ReplicaMode | undefined;
  /** Last position that the tables matched; `undefined` before the first sync. */
  #position: CurrentPosition | undefined;
  /** Whether a full sync is required because the tables may match no server. */
  #mustSync = false;
  /** Number of suspensions when the current poll started. */
  #suspensions = 0;
  /**
   * Number of suspensions when the entries were last compared. Entries may have
   * been deleted without a new position when reads have been suspended since.
   */
  #comparedSuspensions = 0;
  /** Earliest start of the next full sync. */
  #resyncNotBefore = -Infinity;
  /** Start of the next full sync of a server without positions. */
  #nextSyncAt = -Infinity;

  constructor(options: DirectorySyncOptions) {
    const { tables, observers } = options;
    this.#options = options;
    this.stricter = new StricterValues({ ...options, pending: this.#pending });
    this.#writer = new TableWriter({
      tables,
      restrict: batch => this.stricter.restrict(batch),
      onWrite: written => {
        for (const observer of observers) {
          observer.onWrite(written);
        }
      },
      onRelinked: entry => this.#rereadGroups(entry),
    });
    this.#checks = new BackgroundChecks({
      ...options,
      pending: this.#pending,
      startCheck: () => this.#writer.startCheck(),
      guard: ids => this.#checkDeletions(ids),
    });
  }

  /** Current mode; `undefined` before the first poll. */
  get mode(): ReplicaMode | undefined {
    return this.#mode;
  }

  /**
   * URL of the server that the tables match; `undefined` before the first sync.
   */
  get server(): string | undefined {
    return this.#position?.server;
  }

  /** Requests a comparison of all entries, because access may have changed. */
  requestCheck(): void {
    this.#checks.requestAll();
  }

  /** Syncs once. Resolves to whether the tables match the directory. */
  async poll(): Promise<boolean> {
    try {
      return await this.#poll();
    } catch (error) {
      // The source may not report the same deletions again, and access rules
      // may change during an outage.
      this.#checks.requestIds();
      throw error;
    }
  }

  async #poll(): Promise<boolean> {
    const { source, state, observers } = this.#options;
    this.#suspensions = state.suspensions;
    const position = await source.position();
    this.#changeMode(position.value === undefined ? 'full' : 'changes');
    const reached = await this.#sync(position);
    if (this.#checks.hasFailedAccess) {
      await this.#compare(position.server, check =>
        this.#checks.readAll(check),
      );
      this.#checks.hasFailedAccess = false;
    }
    // Only a sync that starts after a suspension ends it.
    if (!reached || this.#suspensions !== state.suspensions) {
      return false;
    }
    this.#position = reached;
    state.confirm(reached.requestedAt);
    for (const observer of observers) {
      observer.onConfirmed(reached);
    }
    this.#checks.startDue(reached.server);
    return true;
  }

  /**
   * Resolves to the position that the tables match; `undefined` while it is not
   * known.
   */
  async #sync(position: CurrentPosition): Promise<CurrentPosition | undefined> {
    const { source, state } = this.#options;
    const last = this.#position;
    const order = last ? source.compare(last, position) : 'other';
    const isFollowed =
      (order === 'same' || order === 'later') && !this.#mustSync;
    if (isFollowed && this.#mode === 'changes') {
      return await this.#syncChanges(position, order);
    }
    const now = performance.now();
    const isEarly = isFollowed && state.isServing && now < this.#nextSyncAt;
    return isEarly || now < this.#resyncNotBefore
      ? undefined
      : await this.#syncFully(position, order);
  }

  /**
   * Reads all entries. Except for the first time, writes only the differences,
   * at the end: the tables are read meanwhile.
   */
  async #syncFully(
    position: CurrentPosition,
    order: PositionOrder,
  ): Promise<CurrentPosition> {
    const { source, tables, logger, state } = this.#options;
    const startedAt = performance.now();
    const pending = this.#pending.due();
    const isFirst = this.#position === undefined;
    tables.expireAliases();
    try {
      await this.#prepareGuard();
      // On the same server, the right to search for USNs may have changed.
      const isSwitched = this.server !== position.server;
      if (!isFirst && (isSwitched || order === 'earlier')) {
        this.stricter.start(state.ageMs);
      }
      const differences = await this.#compare(position.server, async check => {
        const ids = await source.readAll(batch =>
          isFirst ? this.#writer.writeInTurns(batch) : check.compare(batch),
        );
        // The tables match no server until all differences are corrected.
        this.#mustSync = true;
        return ids;
      });
      await tables.users.buildIndexes();
      this.#mustSync = false;
      this.#comparedSuspensions = this.#suspensions;
      this.#pending.clear(pending);
      if (position.value === undefined) {
        this.#scheduleSync(startedAt);
      }
      logger.info(
        isFirst
          ? 'First sync finished'
          : `Replica was synced with ${position.server}`,
        {
          ...(isFirst ? this.#counts : countByKind(differences)),
          seconds: Math.round(performance.now() - startedAt) / 1000,
        },
      );
    } finally {
      const tookMs = performance.now() - startedAt;
      this.#resyncNotBefore = startedAt + (1 + PAUSE_PER_SYNC) * tookMs;
    }
    this.#position = position;
    return position;
  }

  /**
   * Reads what was written since the position of the tables.
   *
   * @returns the position that was reached
   */
  async #syncChanges(
    position: CurrentPosition,
    order: PositionOrder,
  ): Promise<CurrentPosition> {
    const { source, tables } = this.#options;
    if (this.#suspensions !== this.#comparedSuspensions) {
      await this.#compare(position.server, () => this.#checks.listIds());
      this.#comparedSuspensions = this.#suspensions;
    }
    const due = this.#pending.due();
    if (order === 'same' && due.length === 0) {
      return position;
    }
    tables.expireAliases();
    const refs: EntryRef[] = [];
    const pending = due.filter(({ refs: refsOf }) => {
      const isNow = refs.length < MAX_READ;
      refs.push(...(isNow ? refsOf() : []));
      return isNow;
    });
    const check = this.#writer.startCheck();
    const reader = new ChangeReader({ source, tables, check });
    const { to, complete, hasAllLost } = await reader.read(
      this.#position!,
      position,
      refs,
    );
    if (!complete || !hasAllLost) {
      this.#checks.requestIds();
    }
    await this.#apply(to.server, check, { hasAllLost });
    this.#pending.clear(pending);
    for (const { refs: refsOf, onCorrected } of pending) {
      onCorrected?.(refsOf().filter(ref => check.get(ref)));
    }
    await tables.users.buildIndexes();
    return to;
  }

  /**
   * Compares the tables with the directory and corrects the differences.
   *
   * @param read - reads all stable IDs, and entries into the comparison
   * @returns the corrected entries
   * @throws Error when the directory cannot be read, another server responded,
   *   or the mass-deletion guard rejected the stable IDs
   */
  async #compare(
    server: string,
    read: (check: TableCheck) => Promise<ListedIds>,
  ): Promise<readonly EntryRef[]> {
    const check = this.#writer.startCheck();
    const ids = await read(check);
    expectServer(ids, { server });
    await this.#checkDeletions(ids, check.unreplicated);
    await check.findDeleted(ids);
    await this.#apply(server, check);
    return check.refs;
  }

  /**
   * Writes differences, only after all of them were read: entries from another
   * server could be older than the tables.
   *
   * @param options.hasAllLost - whether all entries that lost a reference were
   *   read. Default: `true`
   * @throws Error when entries are missing and the account lacks a right, or
   *   reads are suspended in the meantime, because the differences may be wrong
   */
  async #apply(
    server: string,
    check: TableCheck,
    { hasAllLost = true } = {},
  ): Promise<void> {
    const { source, state } = this.#options;
    if (
      !hasAllLost ||
      check.missing.length > MAX_CONFIRMED_DELETIONS ||
      this.#isGuarded(check.deleted)
    ) {
      // The mass-deletion guard decides before memberships disappear.
      const ids = await source.ids();
      expectServer(ids, { server });
      await this.#checkDeletions(ids, check.unreplicated);
      const listed = check.takeListed(ids);
      if (listed.length > 0) {
        this.#pending.add({ refs: () => listed });
      }
    }
    const { missing } = check;
    if (missing.length > 0) {
      await source.verifyAccess();
    }
    if (missing.length <= MAX_CONFIRMED_DELETIONS) {
      // A search can miss an entry that is being renamed.
      await source.readEntries(server, missing, batch => check.compare(batch));
    }
    const requireUse = () => {
      if (this.#suspensions !== state.suspensions) {
        throw new Error('Reads were suspended during the sync');
      }
    };
    requireUse();
    await this.#writer.apply(check, requireUse);
  }

  /** Reads the groups again that link to an entry. */
  #rereadGroups({ ref, key, reason }: RelinkedEntry): void {
    const { tables } = this.#options;
    const refs = () =>
      tables.groupsLinkingTo(tables[ref.kind].keyOf(ref.id) ?? key);
    for (const delayMs of RELINK_DELAYS_MS[reason]) {
      this.#pending.add({ refs, delayMs });
    }
  }

  /**
   * Schedules the next full sync. Allows the replica to be two intervals old.
   */
  #scheduleSync(startedAt: number): void {
    const { state, maxStalenessMs, syncIntervalMs } = this.#options;
    const tookMs = performance.now() - startedAt;
    const intervalMs = Math.max(
      syncIntervalMs ?? FULL_SYNC_INTERVAL_MS,
      FULL_SYNC_INTERVAL_PER_DURATION * tookMs,
    );
    this.#nextSyncAt = startedAt + intervalMs;
    state.maxStalenessMs = Math.max(maxStalenessMs, 2 * intervalMs + tookMs);
  }

  #changeMode(mode: ReplicaMode): void {
    const { logger, state, maxStalenessMs } = this.#options;
    if (mode === this.#mode) {
      return;
    }
    this.#mode = mode;
    if (mode === 'full') {
      logger.warn(
        'The service account cannot search for USNs in the directory: the replica is updated by full syncs. Enable the USN plugin, and allow the account to search for entryusn',
      );
    } else {
      state.maxStalenessMs = maxStalenessMs;
    }
  }

  get #counts(): EntryCounts {
    const { users, groups } = this.#options.tables;
    return { users: users.served.size, groups: groups.size };
  }

  /** Whether the mass-deletion guard would reject these deletions. */
  #isGuarded(deleted: readonly EntryRef[]): boolean {
    const { users = 0, groups = 0 } = countByKind(deleted);
    const counts = this.#counts;
    return (
      deleted.length > 0 &&
      this.#options.guard.wouldReject({
        users: counts.users - users,
        groups: counts.groups - groups,
      })
    );
  }

  /** Rejects before a full sync that the mass-deletion guard would reject. */
  async #prepareGuard(): Promise<void> {
    const { guard, source } = this.#options;
    await guard.prepare();
    if (guard.quarantine) {
      await this.#checkDeletions(await source.ids());
    }
  }

  /**
   * Suspends reads when the mass-deletion guard rejects the stable IDs.
   *
   * @param unreplicated - entries that count as deleted although they are
   *   listed. Default: none
   */
  async #checkDeletions(
    ids: ReplicaIds,
    unreplicated: readonly EntryRef[] = [],
  ): Promise<void> {
    const { guard, suspendFor } = this.#options;
    const { users = 0, groups = 0 } = countByKind(
      unreplicated.filter(({ kind, id }) => ids[kind].has(id)),
    );
    const found = {
      users: ids.users.size - users,
      groups: ids.groups.size - groups,
    };
    try {
      await guard.check(found, this.#counts);
    } catch (error) {
      suspendFor(error);
      this.#mustSync = true;
      throw error;
    }
  }
}
