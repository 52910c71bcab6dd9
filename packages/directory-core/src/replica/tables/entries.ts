import type { Group, User } from '../../directory/records';

/**
 * Values that a search finds but a record does not show: all values of a
 * single-valued field except for the first.
 */
export type SearchOnlyValues<T> = Partial<Record<keyof T, readonly string[]>>;

/** Account by which a user is authenticated. */
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
  /** Record with all fields. */
  readonly user: User;
  /**
   * `ipaUniqueID`, which survives a rename; `undefined` if the service account
   * may not read it.
   */
  readonly uniqueId?: string;
  readonly searchOnly?: SearchOnlyValues<User>;
  /** Default: an account that no lookup finds. */
  readonly account?: UserAccount;
}

/** Members and sponsors of a group, as normalized DNs. */
export interface GroupLinks {
  /** `member`. */
  readonly members: readonly string[];
  /** `memberManager`. */
  readonly sponsors: readonly string[];
  /** See {@link UserEntry.uniqueId}. */
  readonly uniqueId?: string;
}

/** A group as the directory holds it, served or not. */
export interface GroupEntry extends GroupLinks {
  /** Record with all fields, if the API serves the group. */
  readonly group?: Group;
  readonly searchOnly?: SearchOnlyValues<Group>;
}

/** An agreement of freeipa-fas. */
export interface AgreementEntry {
  readonly name: string;
  readonly enabled: boolean;
  /** Keys of the users who signed it. */
  readonly signers: ReadonlySet<string>;
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

/** An entry as it was read. */
export interface ReadEntry<T = unknown> {
  /** Stable ID; the key for an entry without a readable one. */
  readonly id: string;
  /** Normalized DN. */
  readonly key: string;
  /** `undefined` for an entry that is not replicated. */
  readonly entry: T | undefined;
  /** `undefined` when the account may not read it. */
  readonly createdAt?: Date;
  /**
   * Keys of the groups that a user is in according to the server, direct and
   * nested ones; only for users from `ReplicaSource.changes`, from a
   * server that has them.
   */
  readonly memberOf?: ReadonlySet<string>;
}

/** Entries of one kind that are read together. */
export type ReplicaBatch = {
  [Kind in ReplicaKind]: {
    readonly kind: Kind;
    readonly entries: readonly ReadEntry<EntriesByKind[Kind]>[];
  };
}[ReplicaKind];

/** Reference to an entry of the directory. */
export interface EntryRef {
  readonly kind: ReplicaKind;
  readonly id: string;
}

/** Returns a group or an agreement with other links to users and groups. */
export function mapLinks<T extends object>(
  entry: T,
  map: (keys: readonly string[]) => readonly string[],
): T {
  const { members, sponsors, signers }: Partial<GroupEntry & AgreementEntry> =
    entry;
  return {
    ...entry,
    ...(members && { members: map(members) }),
    ...(sponsors && { sponsors: map(sponsors) }),
    ...(signers && { signers: new Set(map([...signers])) }),
  };
}
