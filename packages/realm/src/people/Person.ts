/** Somebody with an account, before it becomes an LDAP entry. */
export interface Person {
  uid: string;
  givenName: string;
  surname: string;
  /** The full name shown; none leaves the attribute out. */
  displayName?: string;
  mails: readonly string[];
  sshKeys: readonly string[];
  /** DER. */
  certificates: readonly Buffer[];
  created: Date;
  locked?: boolean;
  /** When Kerberos lets the account expire. */
  expires?: Date;
  /** Principal names beside `uid@REALM`, without the realm. */
  aliases: readonly string[];
  /** None: an account outside the Fedora Account System. */
  fas?: FasProfile;
}

/** What the Fedora Account System adds. */
export interface FasProfile {
  timezone?: string;
  locale?: string;
  /** `irc:` and `matrix:` URIs. */
  nicks: readonly string[];
  gpgKeyIds: readonly string[];
  rhbzEmail?: string;
  github?: string;
  gitlab?: string;
  websites: readonly string[];
  rssUrls: readonly string[];
  pronouns: readonly string[];
  /** Absent reads as public. */
  isPrivate?: boolean;
}

/** A profile in which nothing is filled in. */
export const EMPTY_PROFILE: FasProfile = {
  nicks: [],
  gpgKeyIds: [],
  websites: [],
  rssUrls: [],
  pronouns: [],
};
