import type { AgreementEntry, GroupEntry, UserEntry } from '../tables/entries';

/** A position in a server's history of writes. */
export interface ReplicaPosition {
  /** URL of the server. */
  readonly server: string;
  /** USNs of different epochs cannot be compared. */
  readonly epoch: number;
  /**
   * The last USN; `undefined` where the server has no USNs, or the account may
   * not search for them.
   */
  readonly usn: number | undefined;
  /** Writes up to this USN are visible; others may still become visible. */
  readonly committedUsn: number | undefined;
  /** Time of the request, from `performance.now()`. */
  readonly requestedAt: number;
}

/** Entries of each kind, which has a table of the same name. */
interface EntriesByKind {
  readonly users: UserEntry;
  readonly groups: GroupEntry;
  readonly agreements: AgreementEntry;
}

/** A kind of replicated entries. */
export type ReplicaKind = keyof EntriesByKind;

/** All kinds. */
export const replicaKinds = ['users', 'groups', 'agreements'] as const;

/** Entries of one kind that are read together. */
export type ReplicaBatch = {
  [Kind in ReplicaKind]: {
    readonly kind: Kind;
    /** With their keys; `undefined` for an entry that is not replicated. */
    readonly entries: readonly (readonly [
      key: string,
      entry: EntriesByKind[Kind] | undefined,
    ])[];
  };
}[ReplicaKind];

/**
 * Receives entries as they are read; an entry may be in several batches. The
 * source waits for the result before it delivers the next batch.
 */
export type OnBatch = (batch: ReplicaBatch) => void | Promise<void>;

/** Keys of all entries. */
export interface ReplicaKeys extends Record<ReplicaKind, ReadonlySet<string>> {
  /** URL of the server that returned them. */
  readonly server: string;
}

/**
 * USN of the last write of each entry, by key; `undefined` where the account may
 * not read it.
 */
export type UsnsByKey = ReadonlyMap<string, number | undefined>;

/** Receives change notifications of a server. */
export interface ChangeSubscriber {
  /** The entry with this key was deleted or renamed. */
  readonly onDeleted: (key: string) => void;
  /** The subscription ended. */
  readonly onLost: (error: Error) => void;
  /**
   * The server does not send notifications to this account: the subscription is
   * empty. May be called before or after `subscribe` resolves.
   */
  readonly onUnsupported: (error: Error) => void;
}

/** An entry of the directory. */
export interface EntryRef {
  readonly kind: ReplicaKind;
  readonly key: string;
}

/**
 * How far a server is in the replication between servers: the replica update
 * vector of 389 Directory Server.
 */
export interface ReplicationState {
  /** States of different generations of the data cannot be compared. */
  readonly generation: string;
  /**
   * The latest change that the server has of each server, by replica ID: a
   * change sequence number of fixed length, or '' before the first change.
   */
  readonly latest: ReadonlyMap<string, string>;
}

/**
 * Port between the replica and the directory. Every method rejects when the
 * directory is unavailable. Reads "with access check" reject when the account
 * may not read an attribute that privacy or authentication depends on.
 */
export interface ReplicaSource {
  /** The directory's position, at most 250 ms old. */
  readPosition(): Promise<ReplicaPosition>;
  /**
   * Reads every entry. Batches must not be used when it rejects, as it does when
   * the account lacks a right.
   */
  readAll(onBatch: OnBatch): Promise<ReplicaKeys>;
  /** Reads every entry with access check, at a low load for the directory. */
  readAllThrottled(onBatch: OnBatch): Promise<ReplicaKeys>;
  /**
   * Lists the existing entries that were written from this USN on. Rejects when
   * the account may not search for USNs, which returns no entries either.
   */
  listChanges(
    fromUsn: number,
  ): Promise<{ readonly server: string; readonly usns: UsnsByKey }>;
  /** Reads the same entries, with access check. */
  readChanges(
    fromUsn: number,
    onBatch: OnBatch,
  ): Promise<{ readonly server: string }>;
  /**
   * Reads one entry, with access check. `found` is `false` when the account
   * cannot read such an entry.
   */
  readEntry(
    entry: EntryRef,
    onBatch: OnBatch,
  ): Promise<{ readonly server: string; readonly found: boolean }>;
  /** Lists the USNs, from this one on, of all readable entries of any kind. */
  listUsns(
    fromUsn: number,
  ): Promise<{ readonly server: string; readonly usns: ReadonlySet<number> }>;
  /**
   * Runs the access check now. Entries that the account could no longer read
   * were deleted only if it succeeds afterwards.
   */
  verifyAccess(): Promise<void>;
  /** Lists the keys of all entries. */
  readKeys(): Promise<ReplicaKeys>;
  /** When an entry was created, if the account can read that. */
  createdAt(entry: EntryRef): Promise<Date | undefined>;
  /**
   * The server's state of replication; `undefined` when it has none, or the
   * account cannot read it.
   */
  replicationState(): Promise<
    { readonly server: string; readonly state: ReplicationState } | undefined
  >;
  /** Subscribes to a server's deletions; returns the unsubscribe function. */
  subscribe(server: string, subscriber: ChangeSubscriber): Promise<() => void>;
}

/**
 * Requires that a response is of the server that a USN or position is of.
 *
 * @throws Error when another server has responded.
 */
export function expectServer(
  response: { readonly server: string },
  known: { readonly server: string },
): void {
  if (response.server !== known.server) {
    throw new Error('Response came from another server');
  }
}
