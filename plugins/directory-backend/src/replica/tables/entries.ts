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
}

/** A group as the directory holds it, served or not. */
export interface GroupEntry extends GroupLinks {
  /** Record with all fields, if the API serves the group. */
  readonly group?: Group;
  /** See {@link UserEntry.uniqueId}. */
  readonly uniqueId?: string;
  readonly searchOnly?: SearchOnlyValues<Group>;
}

/** An agreement of freeipa-fas. */
export interface AgreementEntry {
  readonly name: string;
  readonly enabled: boolean;
  /** Keys of the users who signed it. */
  readonly signers: ReadonlySet<string>;
}
