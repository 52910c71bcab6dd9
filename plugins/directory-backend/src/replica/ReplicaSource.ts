import type { GroupEntry } from './GroupTable';
import type { CopiedAgreement } from './AgreementTable';
import type { ChangeNumbers } from './ChangeNumbers';
import type { CopiedUser } from './UserTable';

/** A moment in a directory's history of writes. */
export interface ReplicaTime {
  readonly server: string;
  /** Numbers of different eras have nothing to do with each other. */
  readonly era: number;
  /** `undefined` where the server does not count its writes. */
  readonly usn: number | undefined;
  /** All up to this number can be seen: what comes late is after it. */
  readonly settledUsn: number | undefined;
  /** When it was asked for, on the clock of `performance.now()`. */
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

/** What is heard of a directory's changes. */
export interface ReplicaEars {
  /** An entry of this key is gone, or has another one now. */
  readonly onGone: (key: string) => void;
  /** Nothing more is heard. */
  readonly onLost: (error: Error) => void;
}

/**
 * What a copy is made from: the port between the copy and the directory. Every
 * method rejects when the directory cannot be asked.
 */
export interface ReplicaSource {
  /** Where the directory is, at most a quarter of a second ago. */
  time(): Promise<ReplicaTime>;
  /**
   * Every entry. Rejects when the account lacks a right, or may not search for
   * numbers; what was taken until then must not be believed.
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
  /** Hears of what is gone from a server; the answer ends it. */
  listen(server: string, ears: ReplicaEars): Promise<() => void>;
}
