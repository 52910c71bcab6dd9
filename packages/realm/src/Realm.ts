/** A running realm on 127.0.0.1, with its files in the folder `dir`. */
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
  /** CA certificate of LDAPS, in PEM. */
  readonly caFile: string;
  /** The gateway's service account. */
  readonly bindDn: string;
  readonly bindPasswordFile: string;
  /** Administrator of the directory server, exempt from access control. */
  readonly rootDn: string;
  readonly rootPasswordFile: string;
  /** Path of `krb5.conf`, for `KRB5_CONFIG`. */
  readonly krb5Config: string;
  /** The gateway's keytab, with HTTP/localhost only. */
  readonly keytab: string;
  /** Keytab with the keys of all people, services and hosts. */
  readonly peopleKeytab: string;
  /** Access log of the directory server; see `RealmOptions.accessLog`. */
  readonly accessLog: string;
  /** Environment variables of the realm; see `realmEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** Controls the directory server, which keeps its ports. */
  readonly directory: RealmDirectory;
  /** Stops and starts the KDC, which keeps its port. */
  readonly kdc: Pick<RealmDirectory, 'stop' | 'start'>;

  /**
   * Obtains a ticket for a principal, once.
   *
   * @param principal - for example `bot/builder.example.test`; the realm is
   * optional
   * @returns the credential cache, for `KRB5CCNAME`
   */
  ticket(principal: string): Promise<string>;
  /** Applies LDIF change records as the administrator. */
  modify(ldif: string): Promise<void>;
  /**
   * Creates a new key for HTTP/localhost, which the KDC uses immediately, and
   * adds it to the keytab, which is replaced atomically.
   */
  rotateServiceKey(): Promise<void>;
  /** Removes all keys except the newest from the keytab, atomically. */
  removeOldServiceKeys(): Promise<void>;
  /** Stops the servers and removes all files; can be called repeatedly. */
  stop(): Promise<void>;
  /**
   * Resolves when the realm has ended, and keeps the caller's process alive
   * until then.
   */
  ended(): Promise<void>;
}

/** Control of a realm's directory server. */
export interface RealmDirectory {
  /** Sends SIGTERM and waits. */
  stop(): Promise<void>;
  /** Starts the server on the same ports and waits until it responds. */
  start(): Promise<void>;
  /** Sends SIGKILL and waits. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: connections stay open without responses. */
  pause(): Promise<void>;
  /** Sends SIGCONT. */
  resume(): Promise<void>;
}

/** Returns the environment variables of programs that use a realm. */
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
