import type { EntryRef, ReplicaBatch, ReplicaKind } from '../tables/entries';

/**
 * Where the data of a server stands. Only the source interprets it, with
 * {@link ReplicaSource.compare}.
 */
export interface ReplicaPosition {
  /** URL of the server. */
  readonly server: string;
  /**
   * Opaque; `undefined` when the server has no positions or the account may not
   * search for them.
   */
  readonly value: string | undefined;
}

/** A position with the time of its request, from `performance.now()`. */
export interface CurrentPosition extends ReplicaPosition {
  readonly requestedAt: number;
}

/**
 * How a position relates to an earlier one.
 *
 * - `same`: no write has become visible
 * - `later`: writes may have become visible
 * - `earlier`: the other position is the later one
 * - `other`: another server, or a server that was restored from a backup
 */
export type PositionOrder = 'same' | 'later' | 'earlier' | 'other';

/**
 * Receives entries as they are read; an entry may be in several batches. The
 * source waits for the result before it delivers the next batch.
 */
export type OnBatch = (batch: ReplicaBatch) => void | Promise<void>;

/** Stable IDs of entries by kind. */
export type ReplicaIds = Readonly<Record<ReplicaKind, ReadonlySet<string>>>;

/** Stable IDs with the URL of the server that returned them. */
export interface ListedIds extends ReplicaIds {
  readonly server: string;
}

/** A response of {@link ReplicaSource.changes}. */
export interface ListedChanges {
  /** Entries of recent writes that can no longer be read. */
  readonly gone: readonly EntryRef[];
  /**
   * Whether readable entries explain all writes. Otherwise an entry may have
   * been deleted or moved, and the stable IDs must be compared.
   */
  readonly complete: boolean;
}

/**
 * Port between the replica and a kind of directory server. Every method rejects
 * when the directory is unavailable. Reads "with an access check" reject when
 * the account may not read an attribute on which privacy or authentication
 * depends. A read that is bound to a server rejects when another server
 * responds.
 */
export interface ReplicaSource {
  /** Reads the directory's position. */
  position(): Promise<CurrentPosition>;
  /** Returns how the second position relates to the first. */
  compare(from: ReplicaPosition, to: ReplicaPosition): PositionOrder;
  /**
   * Reads each entry that was written between two positions of a server once,
   * with an access check. Late writes, which become visible after later ones,
   * are read with a later position.
   */
  changes(
    from: ReplicaPosition,
    to: ReplicaPosition,
    onBatch: OnBatch,
  ): Promise<ListedChanges>;
  /** Lists the stable IDs of all entries. */
  ids(): Promise<ListedIds>;
  /**
   * Reads entries of a server that may have changed without a position, the
   * latest 2,000 at most, with an access check: after a newer write to an entry,
   * some servers hide that an older one was replicated.
   */
  readRecent(server: string, onBatch: OnBatch): Promise<void>;
  /**
   * Reads every entry. Rejects when the account lacks a right; in that case,
   * discard the batches.
   */
  readAll(onBatch: OnBatch): Promise<ListedIds>;
  /**
   * Reads every entry with an access check, throttled to limit the load on the
   * directory.
   */
  readAllThrottled(onBatch: OnBatch): Promise<ListedIds>;
  /**
   * Reads entries of a server, with an access check.
   *
   * @returns the stable IDs of the entries that were found
   */
  readEntries(
    server: string,
    entries: readonly EntryRef[],
    onBatch: OnBatch,
  ): Promise<ReplicaIds>;
  /**
   * Runs the access check now. Entries that the account can no longer read
   * count as deleted only if it succeeds afterwards.
   */
  verifyAccess(): Promise<void>;
}

/**
 * Requires that a response comes from the server of a position.
 *
 * @throws Error when another server has responded.
 */
export function expectServer(
  response: { readonly server: string },
  known: { readonly server: string },
): void {
  if (response.server !== known.server) {
    throw new Error('The response came from another server');
  }
}
