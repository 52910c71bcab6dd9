/**
 * The directory's entry for somebody who calls: a user, a service or a host.
 */
export interface Principal {
  /** Distinguished name, as the directory spells it. */
  readonly dn: string;
  readonly kind: 'user' | 'service' | 'host';
  /** `uid`, of a user only. */
  readonly username?: string;
  /**
   * Principal name without its realm, of a service or host only, for example
   * `HTTP/www.example.test`.
   */
  readonly service?: string;
  /** Whether `/users/{username}/` answers for this entry. */
  readonly served: boolean;
  /** Every `krbPrincipalName`, aliases included, with its realm. */
  readonly principalNames: readonly string[];
  /** `krbCanonicalName`, or the first principal name. */
  readonly canonicalName?: string;
  /** `mail`. */
  readonly emails: readonly string[];
  /** `nsAccountLock`. */
  readonly locked: boolean;
  /** `krbPrincipalExpiration`, `undefined` when the principal never expires. */
  readonly expires?: Date;
  /**
   * Names, in lower case, of the groups the entry is in, directly or through
   * other groups.
   */
  readonly groups: ReadonlySet<string>;
}

/** Whether the account is past its `krbPrincipalExpiration`. */
export function hasExpired({ expires }: Principal): boolean {
  return expires !== undefined && expires.getTime() <= Date.now();
}
