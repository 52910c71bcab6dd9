import type { AgreementEntry, GroupEntry, UserEntry } from '../tables/entries';

/** A position in a server's history of writes. */
export interface ReplicaPosition {
  /** URL of the server. */
  readonly server: string;
  /** USNs of different epochs cannot be compared. */
  readonly epoch: number;
  /**
   * The last USN; `undefined` when the server has no USNs or the account may
   * not search for them.
   */
  readonly usn: number | undefined;
  /** Writes up to this USN are visible; later ones may still become visible. */
  readonly committedUsn: number | undefined;
  /** Time of the request, from `performance.now()`. */
  readonly requestedAt: number;
}

/** Entry type of each kind. Each kind has a table with the same name. */
interface EntriesByKind {
  readonly users: UserEntry;
  readonly groups: GroupEntry;
  readonly agreements: AgreementEntry;
}

/** A kind of replicated entry. */
export type ReplicaKind = keyof EntriesByKind;

/** All kinds. */
export const replicaKinds = ['users', 'groups', 'agreements'] as const;

/** Entries of one kind that are read together. */
export type ReplicaBatch = {
  [Kind in ReplicaKind]: {
    readonly kind: Kind;
    /**
     * Entries with their keys; `undefined` for an entry that is not replicated.
     */
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

/** Keys of all entries by kind. */
export interface ReplicaKeys extends Record<ReplicaKind, ReadonlySet<string>> {
  /** URL of the server that returned them. */
  readonly server: string;
}

/**
 * USN of the last write of each entry, by key; `undefined` when the account may
 * not read it.
 */
export type UsnsByKey = ReadonlyMap<string, number | undefined>;

/** Handlers for change notifications of a server. */
export interface ChangeSubscriber {
  /** The entry with this key was deleted or renamed. */
  readonly onDeleted: (key: string) => void;
  /** The subscription ended. */
  readonly onLost: (error: Error) => void;
  /**
   * The server does not notify this account, so the subscription has no effect.
   * May be called before or after `subscribe` resolves.
   */
  readonly onUnsupported: (error: Error) => void;
}

/** Reference to an entry of the directory. */
export interface EntryRef {
  readonly kind: ReplicaKind;
  readonly key: string;
}

/**
 * Progress of a server in replication: the replica update vector (RUV) of 389
 * Directory Server.
 */
export interface ReplicationState {
  /** States of different generations of the data cannot be compared. */
  readonly generation: string;
  /**
   * The latest change that the server has from each server, by replica ID: a
   * change sequence number of fixed length, or '' before the first change.
   */
  readonly latest: ReadonlyMap<string, string>;
}

/**
 * Port between the replica and the directory. Every method rejects when the
 * directory is unavailable. Reads "with an access check" reject when the
 * account may not read an attribute on which privacy or authentication depends.
 */
export interface ReplicaSource {
  /** The directory's position, at most 250 ms old. */
  readPosition(): Promise<ReplicaPosition>;
  /**
   * Reads every entry. Rejects when the account lacks a right; in that case,
   * discard the batches.
   */
  readAll(onBatch: OnBatch): Promise<ReplicaKeys>;
  /**
   * Reads every entry with an access check, throttled to limit the load on the
   * directory.
   */
  readAllThrottled(onBatch: OnBatch): Promise<ReplicaKeys>;
  /**
   * Lists the existing entries that were written since this USN, inclusive.
   * Rejects when the account may not search for USNs, because such a search
   * returns no entries.
   */
  listChanges(
    fromUsn: number,
  ): Promise<{ readonly server: string; readonly usns: UsnsByKey }>;
  /**
   * Reads the entries of {@link ReplicaSource.listChanges}, with an access
   * check.
   */
  readChanges(
    fromUsn: number,
    onBatch: OnBatch,
  ): Promise<{ readonly server: string }>;
  /**
   * Reads one entry, with an access check. `found` is `false` when the account
   * cannot read the entry.
   */
  readEntry(
    entry: EntryRef,
    onBatch: OnBatch,
  ): Promise<{ readonly server: string; readonly found: boolean }>;
  /**
   * Lists the USNs of all readable entries of any kind, starting with this one.
   */
  listUsns(
    fromUsn: number,
  ): Promise<{ readonly server: string; readonly usns: ReadonlySet<number> }>;
  /**
   * Runs the access check now. Entries that the account can no longer read
   * count as deleted only if it succeeds afterwards.
   */
  verifyAccess(): Promise<void>;
  /** Lists the keys of all entries. */
  readKeys(): Promise<ReplicaKeys>;
  /** Returns the creation time of an entry, if the account can read it. */
  createdAt(entry: EntryRef): Promise<Date | undefined>;
  /**
   * Returns the server's replication state; `undefined` when it has none or the
   * account cannot read it.
   */
  replicationState(): Promise<
    { readonly server: string; readonly state: ReplicationState } | undefined
  >;
  /** Subscribes to a server's deletions; returns the unsubscribe function. */
  subscribe(server: string, subscriber: ChangeSubscriber): Promise<() => void>;
}

/**
 * Requires that a response comes from the server of a USN or position.
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
