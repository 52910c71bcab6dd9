import { metrics } from '@opentelemetry/api';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  BackgroundChecks,
  type BackgroundChecksOptions,
} from './BackgroundChecks';
import type { EntryCounts, MassDeletionGuard } from './MassDeletionGuard';
import { type CheckedEntries, ReferenceCheck } from './ReferenceCheck';
import {
  type CurrentPosition,
  expectServer,
  type ListedIds,
  type PositionOrder,
  type ReplicaIds,
  type ReplicaPosition,
  type ReplicaSource,
} from './ReplicaSource';
import type { EntryRef, ReplicaBatch } from '../tables/entries';
import type { ReplicaState } from './ReplicaState';
import { StricterValues } from './StricterValues';
import {
  countByKind,
  type EntryCountsByKind,
  type TableCheck,
} from './TableCheck';
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
 * Maximum number of entries that are deleted because they can no longer be
 * read. Beyond it, they are left to the comparison of stable IDs, which runs
 * the mass-deletion guard: the account may have lost the right to read them.
 * Also the maximum number of entries missing in a list that are read again.
 */
const MAX_DELETIONS = 50;

/**
 * Maximum number of changed entries that are kept in memory; a full sync reads
 * more of them page by page.
 */
const MAX_CHANGED_ENTRIES = 5000;

/**
 * Maximum number of times that a poll looks for further changes. Entries that
 * are written continuously may then be as of slightly different times.
 */
const MAX_ROUNDS = 5;

/**
 * Number of changed entries and group members that are written in one turn of
 * the event loop. An entry counts as several members.
 */
const MAX_MEMBERS_PER_TURN = 2500;
const MEMBERS_PER_ENTRY = 5;

/**
 * Delay after which groups are read again that link to a moved or deleted
 * entry. Some servers rewrite these links later, without a new position.
 */
const RELINK_MS = 2000;

/** Time for which links to the former DN of an entry refer to the entry. */
const ALIAS_MS = 10 * 60_000;

/** How the replica follows a server. */
export type ReplicaMode =
  /** By the server's positions. */
  | 'changes'
  /** By full syncs at an interval. */
  | 'full';

/** Observes writes to the tables. */
export interface TableObserver {
  /**
   * Called in the turn in which entries may have changed; `undefined` stands
   * for all entries.
   */
  onWrite(written: WrittenEntries | undefined): void;
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

/** Groups to read again at a time from `performance.now()`. */
interface Reread {
  readonly at: number;
  /** Key that the groups may link to. */
  readonly key: string;
  /** Former key of a renamed entry; links to it end. */
  readonly former?: string;
}

/**
 * Keeps the tables in sync with one server of the directory: polls its
 * position, reads what was written since, and compares stable IDs when that
 * does not explain all writes.
 */
export class DirectorySync {
  readonly stricter: StricterValues;
  readonly #options: DirectorySyncOptions;
  readonly #writer: TableWriter;
  readonly #checks: BackgroundChecks;
  readonly #duration = metrics
    .getMeter('directory')
    .createHistogram('directory.replica.sync.duration', {
      description: 'Duration of full syncs',
      unit: 's',
    });
  #mode: ReplicaMode | undefined;
  /** Last position that the tables matched; `undefined` before the first sync. */
  #position: CurrentPosition | undefined;
  /** Whether a full sync is required because the tables may match no server. */
  #mustSync = false;
  /**
   * Number of suspensions when the entries were last compared. Entries may have
   * been deleted without a new position when reads have been suspended since.
   */
  #comparedSuspensions = 0;
  /** Earliest start of the next full sync. */
  #resyncNotBefore = -Infinity;
  /** Start of the next full sync of a server without positions. */
  #nextSyncAt = -Infinity;
  #rereads: Reread[] = [];

  constructor(options: DirectorySyncOptions) {
    const { tables } = options;
    this.#options = options;
    this.stricter = new StricterValues(options);
    this.#writer = new TableWriter({
      tables,
      restrict: batch => this.stricter.restrict(batch),
      onWrite: written => {
        this.#reportWrite(written);
        this.#checks.recordWritten(written.ids);
        this.#checkTables();
      },
      onRelinked: link => this.#scheduleRereads(link),
    });
    this.#checks = new BackgroundChecks({
      ...options,
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
    const { suspensions } = state;
    const position = await source.position();
    this.#changeMode(position.value === undefined ? 'full' : 'changes');
    const isSynced = await this.#sync(position);
    if (this.#checks.hasFailedAccess) {
      await this.#correct(position.server, check =>
        this.#checks.readAll(check),
      );
      this.#checks.hasFailedAccess = false;
    }
    // Only a sync that starts after a suspension ends it.
    if (isSynced && suspensions === state.suspensions) {
      this.#position = position;
      state.confirm(position.requestedAt);
      for (const observer of observers) {
        observer.onConfirmed(position);
      }
      this.#checks.startDue(position.server);
      return true;
    }
    return false;
  }

  /** Requests a comparison of all entries, because access may have changed. */
  requestCheck(): void {
    this.#checks.requestAll();
  }

  /** Resolves to whether the tables match the directory at a position. */
  async #sync(position: CurrentPosition): Promise<boolean> {
    const { source } = this.#options;
    const last = this.#position;
    const order = last ? source.compare(last, position) : 'other';
    const isFollowed =
      (order === 'same' || order === 'later') && !this.#mustSync;
    if (!isFollowed) {
      return await this.#syncFully(position, order);
    }
    if (this.#mode === 'full') {
      const isDue =
        performance.now() >= this.#nextSyncAt || !this.#options.state.isServing;
      return isDue && (await this.#syncFully(position, order));
    }
    if (!(await this.#syncChanges(position, order))) {
      this.#mustSync = true;
      return await this.#syncFully(position, order);
    }
    return true;
  }

  /** Reads all entries, unless the last full sync was too recent. */
  async #syncFully(
    position: CurrentPosition,
    order: PositionOrder,
  ): Promise<boolean> {
    const { tables, logger, state } = this.#options;
    const { suspensions } = state;
    const startedAt = performance.now();
    if (startedAt < this.#resyncNotBefore) {
      return false;
    }
    const { released } = this.stricter;
    const rereads = this.#dueRereads();
    this.#endAliases(rereads);
    let outcome = 'failure';
    try {
      await this.#prepareGuard();
      const isFirst = this.#position === undefined;
      const counts = await (isFirst
        ? this.#syncFirst(position, startedAt)
        : this.#resync(position, order));
      await tables.users.buildIndexes();
      logger.info(
        isFirst
          ? 'First sync finished'
          : `Replica was synced with ${position.server}`,
        {
          ...counts,
          seconds: Math.round(performance.now() - startedAt) / 1000,
        },
      );
      this.#position = position;
      this.#mustSync = false;
      this.#comparedSuspensions = suspensions;
      this.stricter.clear(released);
      this.#clearRereads(rereads);
      if (position.value === undefined) {
        this.#scheduleSync(startedAt);
      }
      outcome = 'success';
    } finally {
      const tookMs = performance.now() - startedAt;
      this.#resyncNotBefore = startedAt + (1 + PAUSE_PER_SYNC) * tookMs;
      this.#duration.record(tookMs / 1000, { outcome });
    }
    return true;
  }

  /** Writes directly to the tables, which are not read in the meantime. */
  async #syncFirst(
    position: CurrentPosition,
    startedAt: number,
  ): Promise<EntryCountsByKind> {
    const { source } = this.#options;
    const ids = await source.readAll(batch =>
      this.#writer.writeInSlices(batch, startedAt),
    );
    expectServer(ids, position);
    await this.#checkDeletions(ids);
    this.#writer.delete(await this.#writer.startCheck().findDeleted(ids));
    this.#reportWrite(undefined);
    return {
      users: ids.users.size,
      groups: ids.groups.size,
      agreements: ids.agreements.size,
    };
  }

  /** Writes only the differences, at the end: the tables are read meanwhile. */
  async #resync(
    position: CurrentPosition,
    order: PositionOrder,
  ): Promise<EntryCountsByKind> {
    const { source, state } = this.#options;
    // On the same server, the right to search for USNs may have changed.
    const isSwitched = this.#position?.server !== position.server;
    if (isSwitched || order === 'earlier') {
      this.stricter.start(state.ageMs);
    }
    const differences = await this.#correct(position.server, async check => {
      const ids = await source.readAll(batch => check.compare(batch));
      // The tables match no server until all differences are corrected.
      this.#mustSync = true;
      return ids;
    });
    return countByKind(differences);
  }

  /**
   * Reads what was written since the position of the tables. Resolves to
   * `false` if that is too much.
   */
  async #syncChanges(
    position: CurrentPosition,
    order: PositionOrder,
  ): Promise<boolean> {
    const { tables, state } = this.#options;
    const { suspensions } = state;
    if (suspensions !== this.#comparedSuspensions) {
      // First: the mass-deletion guard decides before entries are deleted.
      await this.#compareIds(position.server);
      this.#comparedSuspensions = suspensions;
    }
    const rereads = this.#dueRereads();
    const { released } = this.stricter;
    const { unread } = this.#checks;
    const count = rereads.length + released.length + unread.length;
    if (order === 'later' || count > 0) {
      const changes = await this.#readChanges(position, [
        ...this.#groupsOf(rereads),
        ...released,
        ...unread,
      ]);
      if (!changes) {
        return false;
      }
      const { batches, missing, hasLostMany, complete } = changes;
      this.#endAliases(rereads);
      if (hasLostMany) {
        await this.#compareIds(position.server);
      }
      await this.#write(position.server, batches, missing);
      if (!complete) {
        this.#checks.requestIds();
      }
      this.#clearRereads(rereads);
      this.stricter.clear(released);
      this.#checks.clear(unread);
      await tables.users.buildIndexes();
    }
    return true;
  }

  /**
   * Reads changed entries and these, as of one state of the directory: what was
   * written while others were read is read, too. Resolves to `undefined` if that
   * is too much.
   */
  async #readChanges(
    position: CurrentPosition,
    refs: readonly EntryRef[],
  ): Promise<(CheckedEntries & { readonly complete: boolean }) | undefined> {
    const { source, tables } = this.#options;
    const check = new ReferenceCheck({ source, tables });
    const gone: EntryRef[] = [];
    let from: ReplicaPosition = this.#position!;
    let unread = refs;
    let changed = 0;
    const record = (batch: ReplicaBatch) => {
      changed += batch.entries.length;
      if (changed <= MAX_CHANGED_ENTRIES) {
        check.record(batch);
      }
    };
    for (let round = 1; ; round++) {
      const before = changed + gone.length;
      const listed = await source.changes(from, position, record);
      if (changed > MAX_CHANGED_ENTRIES) {
        return undefined;
      }
      gone.push(...listed.gone);
      const isSettled = changed + gone.length + unread.length === before;
      const checked = await check.complete(position.server, unread);
      if (isSettled || checked.hasLostMany || round === MAX_ROUNDS) {
        const missing = [...gone, ...checked.missing];
        return { ...checked, missing, complete: listed.complete };
      }
      from = position;
      unread = [];
    }
  }

  /**
   * Writes entries only after all of them were read: entries from another
   * server could be older than the tables.
   */
  async #write(
    server: string,
    batches: readonly ReplicaBatch[],
    missing: readonly EntryRef[],
  ): Promise<void> {
    const { source, tables } = this.#options;
    const reread: ReplicaBatch[] = [];
    let deleted = missing.filter(ref => tables.has(ref));
    if (deleted.length > MAX_DELETIONS || this.#isGuarded(deleted)) {
      // The mass-deletion guard decides before memberships disappear.
      await this.#compareIds(server);
      deleted = [];
    } else if (deleted.length > 0) {
      await source.verifyAccess();
      // A search can miss an entry that is being renamed.
      const found = await source.readEntries(
        server,
        deleted,
        batch => void reread.push(batch),
      );
      deleted = deleted.filter(({ kind, id }) => !found[kind].has(id));
    }
    // First: until then, a deleted user would be in fewer groups.
    this.#writer.delete(deleted);
    let size = 0;
    for (const batch of [...batches, ...reread]) {
      for (const one of eachOf(batch)) {
        size += sizeOf(one);
        if (size > MAX_MEMBERS_PER_TURN) {
          size = sizeOf(one);
          await nextTurn();
        }
        this.#writer.write(one);
      }
    }
  }

  /** Deletes the entries that the directory no longer lists. */
  async #compareIds(server: string): Promise<void> {
    let listed: ListedIds | undefined;
    const deleted = await this.#correct(server, async () => {
      listed = await this.#checks.listIds();
      return listed;
    });
    await this.#checks.recordIds(listed!);
    if (deleted.length > 0) {
      this.#options.logger.info(
        'Entries are removed that the directory no longer lists',
        countByKind(deleted),
      );
    }
  }

  /**
   * Compares the tables with the directory and corrects the differences.
   *
   * @param read - reads all stable IDs, and entries into the comparison
   * @returns the corrected entries
   * @throws Error when the directory cannot be read, another server responded,
   *   the mass-deletion guard rejected the stable IDs, entries are missing and
   *   the account lacks a right, or reads are suspended in the meantime, because
   *   the differences may be wrong
   */
  async #correct(
    server: string,
    read: (check: TableCheck) => Promise<ListedIds>,
  ): Promise<readonly EntryRef[]> {
    const { source, state } = this.#options;
    const { suspensions } = state;
    const check = this.#writer.startCheck();
    const ids = await read(check);
    expectServer(ids, { server });
    await this.#checkDeletions(ids);
    const deleted = await check.findDeleted(ids);
    if (deleted.length > 0) {
      await source.verifyAccess();
    }
    if (deleted.length <= MAX_DELETIONS) {
      // A list can miss an entry that is being renamed.
      await source.readEntries(server, deleted, batch => check.compare(batch));
    }
    for (const batch of check.differences()) {
      if (suspensions === state.suspensions) {
        this.#writer.write(batch);
        await nextTurn();
      }
    }
    if (suspensions !== state.suspensions) {
      throw new Error('Reads were suspended during the comparison');
    }
    return check.refs;
  }

  #reportWrite(written: WrittenEntries | undefined): void {
    for (const observer of this.#options.observers) {
      observer.onWrite(written);
    }
  }

  #scheduleRereads({ key, former, hasLostFormer }: RelinkedEntry): void {
    const now = performance.now();
    this.#rereads.push({ at: hasLostFormer ? now : now + RELINK_MS, key });
    if (former !== undefined) {
      this.#rereads.push({ at: now + ALIAS_MS, key, former });
    }
  }

  #dueRereads(): readonly Reread[] {
    const now = performance.now();
    return this.#rereads.filter(({ at }) => at <= now);
  }

  #endAliases(rereads: readonly Reread[]): void {
    for (const { former } of rereads) {
      this.#options.tables.endAlias(former ?? '');
    }
  }

  /** Records that the groups were read again. */
  #clearRereads(rereads: readonly Reread[]): void {
    const done = new Set(rereads);
    this.#rereads = this.#rereads.filter(each => !done.has(each));
  }

  /** Returns the groups to read again. */
  #groupsOf(rereads: readonly Reread[]): readonly EntryRef[] {
    const { tables } = this.#options;
    return rereads.flatMap(({ key, former }) => {
      const current = tables.aliasOf(former ?? '') ?? key;
      return [
        ...tables.groups.graph.directGroupsOf(current),
        ...tables.groups.graph.sponsoredBy([current]),
      ].flatMap(group => {
        const id = tables.groups.idOf(group);
        return id === undefined ? [] : { kind: 'groups' as const, id };
      });
    });
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

  /** Suspends reads in the same turn in which too many entries are deleted. */
  #checkTables(): void {
    const { guard, suspendFor } = this.#options;
    try {
      guard.checkReplica(this.#counts);
    } catch (error) {
      suspendFor(error);
    }
  }

  /** Suspends reads when the mass-deletion guard rejects the stable IDs. */
  async #checkDeletions({ users, groups }: ReplicaIds): Promise<void> {
    const { guard, suspendFor } = this.#options;
    const found = { users: users.size, groups: groups.size };
    try {
      await guard.check(found, this.#counts);
    } catch (error) {
      suspendFor(error);
      this.#mustSync = true;
      throw error;
    }
  }
}

/** Returns a batch for each entry. */
function eachOf({ kind, entries }: ReplicaBatch): readonly ReplicaBatch[] {
  return entries.map(read => ({ kind, entries: [read] }) as ReplicaBatch);
}

/** Returns the size of a batch of one entry. */
function sizeOf({ entries: [{ entry }] }: ReplicaBatch): number {
  const members = entry && 'members' in entry ? entry.members.length : 0;
  return members + MEMBERS_PER_ENTRY;
}
