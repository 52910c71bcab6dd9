/** Name by which an entry is looked up. */
export type PrincipalQuery =
  /** Kerberos principal name or alias with its realm, case-sensitive. */
  | { readonly principal: string }
  /** User name, matched as the directory matches `uid`. */
  | { readonly username: string };

/** Port for the lookup on which authentication and signing depend. */
export interface PrincipalLookup {
  /**
   * Returns the entry with the name, even if it is locked or expired;
   * `undefined` when no entry or several entries have it.
   *
   * @throws DirectoryUnavailableError when the directory cannot be read.
   * @throws DirectoryTimeoutError when the directory does not respond in time.
   */
  find(
    query: PrincipalQuery,
    context: { readonly signal: AbortSignal },
  ): Promise<Principal | undefined>;
}

/** Port for the lookup that decides about holds of certificates. */
export interface SubjectLookup {
  /**
   * Finds the account of a user live, by the ID that a rename does not change.
   *
   * @throws as {@link PrincipalLookup.find}
   */
  findSubject(
    query: SubjectQuery,
    context: { readonly signal: AbortSignal },
  ): Promise<SubjectState>;
}

/** Query of {@link SubjectLookup.findSubject}. */
export interface SubjectQuery {
  /** See {@link Principal.stableId}. */
  readonly stableId: string;
  /** Last known user name. */
  readonly username: string;
  /**
   * IDs of other accounts that exist. A deletion is reported only if the same
   * search finds one of them, because a lost right looks like a deletion.
   */
  readonly witnesses: readonly string[];
}

/** Result of {@link SubjectLookup.findSubject}. */
export type SubjectState =
  | { readonly kind: 'found'; readonly principal: Principal }
  /** The directory no longer contains the user. */
  | { readonly kind: 'deleted'; readonly server: string }
  /** The service account may lack the right to see the user. */
  | { readonly kind: 'unknown' };

/** Directory entry of a user, a service or a host that can authenticate. */
export interface Principal {
  /** DN in the directory's spelling; normalized in the replica. */
  readonly dn: string;
  readonly kind: 'user' | 'service' | 'host';
  /** `uid`; set only for users. */
  readonly username?: string;
  /**
   * Principal name without its realm, set only for services and hosts, for
   * example `HTTP/www.example.test`.
   */
  readonly service?: string;
  /**
   * ID that a rename does not change and that is not reused, with the name of
   * its attribute: `ipaUniqueID=…`, or else `nsUniqueId=…`. `undefined` when
   * the service account can read neither.
   */
  readonly stableId?: string;
  /** Whether the API serves the user. */
  readonly served: boolean;
  /** Every `krbPrincipalName`, aliases included, with its realm. */
  readonly principalNames: readonly string[];
  /**
   * `krbCanonicalName`, or the first principal name; `undefined` when neither
   * is set, and in the replica.
   */
  readonly canonicalName?: string;
  /** `mail`; empty in the replica. */
  readonly emails: readonly string[];
  /** `nsAccountLock`. */
  readonly locked: boolean;
  /** `krbPrincipalExpiration`, `undefined` when the principal never expires. */
  readonly expires?: Date;
  /**
   * Lower-case names of the groups that the entry is in, directly or through
   * other groups.
   */
  readonly groups: ReadonlySet<string>;
  /**
   * `groups`, and those of which the directory and the replica disagree. For
   * rules that deny something to members. Default: `groups`.
   */
  readonly possibleGroups?: ReadonlySet<string>;
  /** URL of the LDAP server that returned the entry. */
  readonly server?: string;
}

/** How a principal was verified. */
export type AccountSource =
  /** By a lookup that is at most 5 seconds old. */
  | 'live'
  /** By the replica, while the directory is unreachable. */
  | 'replica'
  /** By the last successful lookup, while the directory is unreachable. */
  | 'lastLookup';

/** A principal, and how it was verified. */
export type VerifiedPrincipal = Principal & { readonly source: AccountSource };

/** Whether the account is past its `krbPrincipalExpiration`. */
export function isExpired({ expires }: Principal): boolean {
  return expires !== undefined && expires.getTime() <= Date.now();
}
