import type { Group } from '../../directory/records';
import type { User } from '../../directory/records';
import type { ReplicationState } from './ReplicationState';

/** A position in a server's history of writes. */
export interface ReplicaPosition {
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
  readonly requestedAt: number;
}

/** Of a field that shows one value, the further ones that the entry has. */
export type SearchOnlyValues<T> = Partial<Record<keyof T, readonly string[]>>;

/** What a caller's account is verified by, besides the user's record. */
export interface UserAccount {
  /** Every `krbPrincipalName`, with its realm. */
  readonly principalNames: readonly string[];
  /** `krbPrincipalExpiration`, `undefined` when the account never expires. */
  readonly expires?: Date;
  /** `nsAccountLock`. */
  readonly locked: boolean;
  /** Whether a lookup by user name finds the entry. */
  readonly isFoundByUsername: boolean;
}

/** A user as the directory holds it. */
export interface UserEntry {
  /** With all fields. */
  readonly user: User;
  readonly searchOnly?: SearchOnlyValues<User>;
  /** Default: an account that no lookup finds. */
  readonly account?: UserAccount;
}

/** What a group names: normalized DNs. */
export interface GroupNames {
  /** `member`. */
  readonly members: readonly string[];
  /** `memberManager`. */
  readonly sponsors: readonly string[];
}

/** A group as the directory holds it, served or not. */
export interface GroupEntry extends GroupNames {
  /** Its record with all fields, if the API serves it. */
  readonly group?: Group;
  readonly searchOnly?: SearchOnlyValues<Group>;
}

/** An agreement of freeipa-fas, and who has signed it. */
export interface AgreementEntry {
  readonly name: string;
  readonly enabled: boolean;
  /** Keys of users. */
  readonly signers: ReadonlySet<string>;
}

/** Entries of one kind with their keys; `undefined` is one not to be copied. */
type Keyed<T> = readonly (readonly [key: string, entry: T | undefined])[];

/** Some of the entries that are read, as they come. */
export type ReplicaBatch =
  | { readonly kind: 'users'; readonly entries: Keyed<UserEntry> }
  | { readonly kind: 'groups'; readonly entries: Keyed<GroupEntry> }
  | { readonly kind: 'agreements'; readonly entries: Keyed<AgreementEntry> };

/**
 * Takes entries as they are read; an entry may come twice. The source waits for
 * the result before it delivers the next portion.
 */
export type OnBatch = (portion: ReplicaBatch) => void | Promise<void>;

/** Keys of all entries that were read. */
export interface ReplicaKeys {
  /** Of which server; another one has its own usns. */
  readonly server: string;
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly agreements: ReadonlySet<string>;
}

/**
 * Entries by their keys with the number of the write that each was last
 * changed by; `undefined` where that may not be read.
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

/**
 * Numbers mean something else on another server.
 *
 * @throws Error when an answer is not the server's of which something is known
 */
export function expectServer(
  answer: { readonly server: string },
  known: { readonly server: string },
): void {
  if (answer.server !== known.server) {
    throw new Error('Another server has answered');
  }
}

/**
 * The port between the replica and the directory. Every method rejects when the
 * directory is unavailable.
 */
export interface ReplicaSource {
  /** The directory's position, at most 250 ms old. */
  readPosition(): Promise<ReplicaPosition>;
  /**
   * Every entry. Rejects when the account lacks a right; what was taken until
   * then must not be used.
   */
  readAll(take: OnBatch): Promise<ReplicaKeys>;
  /**
   * Every entry, each with the proof that what privacy rests on could be read
   * in it, in a small share of the directory's time.
   */
  readAllThrottled(take: OnBatch): Promise<ReplicaKeys>;
  /**
   * The entries that were written from this number on and are still there,
   * without what is in them. Rejects when none were found because the account
   * may not search for usns: the directory says the same then.
   */
  listChanges(
    fromUsn: number,
  ): Promise<{ readonly server: string; readonly usns: UsnsByKey }>;
  /**
   * The entries that were written from this number on and are still there, each
   * with that proof.
   */
  readChanges(
    fromUsn: number,
    take: OnBatch,
  ): Promise<{ readonly server: string }>;
  /**
   * One entry as it is now, with that proof. `found` is false when the account
   * cannot read such an entry.
   */
  readEntry(
    entry: { readonly kind: ReplicaBatch['kind']; readonly key: string },
    take: OnBatch,
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
    readonly kind: ReplicaBatch['kind'];
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
