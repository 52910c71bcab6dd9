import type { GroupEntry } from './GroupTable';
import type { CopiedAgreement } from './AgreementTable';
import type { ChangeNumbers } from './ChangeNumbers';
import type { ReplicationState } from './ReplicationState';
import type { CopiedUser } from './UserTable';

/** A position in a server's history of writes. */
export interface ReplicaTime {
  /** The server's URL. */
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
  /** When the server was asked, on the clock of `performance.now()`. */
  readonly askedAt: number;
}

/** Entries of one kind with their keys; `undefined` is one not to be copied. */
type Keyed<T> = readonly (readonly [key: string, entry: T | undefined])[];

/** Some of the entries that are read, as they come. */
export type ReplicaPortion =
  | { readonly kind: 'users'; readonly entries: Keyed<CopiedUser> }
  | { readonly kind: 'groups'; readonly entries: Keyed<GroupEntry> }
  | { readonly kind: 'agreements'; readonly entries: Keyed<CopiedAgreement> };

/**
 * Takes entries as they are read; an entry may come twice. The source waits for
 * the result before it delivers the next portion.
 */
export type TakePortion = (portion: ReplicaPortion) => void | Promise<void>;

/** Keys of all entries that were read. */
export interface ReplicaKeys {
  /** Of which server; another one has its own numbers. */
  readonly server: string;
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly agreements: ReadonlySet<string>;
}

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

/**
 * The port between the replica and the directory. Every method rejects when the
 * directory is unavailable.
 */
export interface ReplicaSource {
  /** The directory's position, at most 250 ms old. */
  time(): Promise<ReplicaTime>;
  /**
   * Every entry. Rejects when the account lacks a right; what was taken until
   * then must not be used.
   */
  readAll(take: TakePortion): Promise<ReplicaKeys>;
  /**
   * Every entry, each with the proof that what privacy rests on could be read
   * in it, in a small share of the directory's time.
   */
  readAllGently(take: TakePortion): Promise<ReplicaKeys>;
  /**
   * The entries that were written from this number on and are still there,
   * without what is in them. Rejects when none were found because the account
   * may not search for numbers: the directory says the same then.
   */
  listChanges(
    fromUsn: number,
  ): Promise<{ readonly server: string; readonly numbers: ChangeNumbers }>;
  /**
   * The entries that were written from this number on and are still there, each
   * with that proof.
   */
  readChanges(
    fromUsn: number,
    take: TakePortion,
  ): Promise<{ readonly server: string }>;
  /**
   * One entry as it is now, with that proof. `found` is false when the account
   * cannot read such an entry.
   */
  readEntry(
    entry: { readonly kind: ReplicaPortion['kind']; readonly key: string },
    take: TakePortion,
  ): Promise<{ readonly server: string; readonly found: boolean }>;
  /**
   * The USNs, from this one on, of all entries that the account can read, of
   * any kind.
   */
  listUsns(
    fromUsn: number,
  ): Promise<{ readonly server: string; readonly usns: ReadonlySet<number> }>;
  /** The keys of all entries. */
  readKeys(): Promise<ReplicaKeys>;
  /** When an entry was created, if the account can read that. */
  createdAt(entry: {
    readonly kind: ReplicaPortion['kind'];
    readonly key: string;
  }): Promise<Date | undefined>;
  /**
   * How far the server is in the replication between servers; `undefined` when
   * it has none, or the account cannot read it.
   */
  replicationState(): Promise<
    { readonly server: string; readonly state: ReplicationState } | undefined
  >;
  /** Subscribes to a server's deletions; returns the unsubscribe function. */
  subscribe(server: string, subscriber: ChangeSubscriber): Promise<() => void>;
}
