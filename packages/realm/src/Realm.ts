/** A running realm. Everything it consists of is on 127.0.0.1 and in `dir`. */
export interface Realm {
  /** `EXAMPLE.TEST`. */
  readonly realm: string;
  /** `dc=example,dc=test`. */
  readonly baseDn: string;
  /** Private folder; `stop()` removes it. */
  readonly dir: string;
  /** `ldap://127.0.0.1:PORT`. */
  readonly ldapUrl: string;
  /** `ldaps://localhost:PORT`. */
  readonly ldapsUrl: string;
  /** PEM of the authority that signed the LDAPS certificate. */
  readonly caFile: string;
  /** The gateway's service account. */
  readonly bindDn: string;
  readonly bindPasswordFile: string;
  /** The directory's administrator, whom no access control concerns. */
  readonly rootDn: string;
  readonly rootPasswordFile: string;
  /** For `KRB5_CONFIG`. */
  readonly krb5Config: string;
  /** The gateway's keytab: HTTP/localhost and nothing else. */
  readonly keytab: string;
  /** The keys of every person, service and host. */
  readonly peopleKeytab: string;
  /** The directory's access log, written as `RealmOptions.accessLog` says. */
  readonly accessLog: string;
  /** What a program needs to know of the realm; see `realmEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory server, to be ended, restarted (on its port) and hung. */
  readonly directory: RealmDirectory;

  /**
   * A Kerberos ticket for a principal, got once.
   *
   * @param principal - `alice`, `bot/builder.example.test`; the realm may be
   * left out
   * @returns a value for `KRB5CCNAME`
   */
  ticket(principal: string): Promise<string>;
  /** Applies LDIF change records as the administrator. */
  modify(ldif: string): Promise<void>;
  /**
   * Gives HTTP/localhost a new key: the KDC uses it at once, the keytab holds
   * it beside the old ones and is replaced in one step.
   */
  rotateServiceKey(): Promise<void>;
  /** Leaves only the newest key in the keytab, replaced in one step. */
  removeOldServiceKeys(): Promise<void>;
  /** Ends everything and leaves nothing; may be called twice. */
  stop(): Promise<void>;
  /**
   * Resolves when the realm has ended. A running realm does not by itself keep
   * the caller's process alive; waiting for this does.
   */
  ended(): Promise<void>;
}

/** Control over the directory server of a realm. */
export interface RealmDirectory {
  /** Asks it to end (SIGTERM) and waits. */
  stop(): Promise<void>;
  /** Starts it again on the same ports and waits until it answers. */
  start(): Promise<void>;
  /** Ends it at once (SIGKILL). */
  kill(): Promise<void>;
  /** Keeps its connections open and answers nothing (SIGSTOP). */
  pause(): Promise<void>;
  /** Lets it go on after `pause` (SIGCONT). */
  resume(): Promise<void>;
}

/**
 * Environment variables that tell a program about a realm: `KRB5_CONFIG`,
 * `KEYTAB` (everybody's keys), `REALM`, `REALM_BASE_DN`, `REALM_LDAP_URL`,
 * `REALM_LDAPS_URL`, `REALM_CA_FILE`, `REALM_BIND_DN`,
 * `REALM_BIND_PASSWORD_FILE`, `REALM_HTTP_KEYTAB`, `REALM_ACCESS_LOG`.
 */
export function realmEnvironment(
  realm: Omit<Realm, 'env'>,
): Record<string, string> {
  return {
    KRB5_CONFIG: realm.krb5Config,
    KEYTAB: realm.peopleKeytab,
    REALM: realm.realm,
    REALM_BASE_DN: realm.baseDn,
    REALM_LDAP_URL: realm.ldapUrl,
    REALM_LDAPS_URL: realm.ldapsUrl,
    REALM_CA_FILE: realm.caFile,
    REALM_BIND_DN: realm.bindDn,
    REALM_BIND_PASSWORD_FILE: realm.bindPasswordFile,
    REALM_HTTP_KEYTAB: realm.keytab,
    REALM_ACCESS_LOG: realm.accessLog,
  };
}
