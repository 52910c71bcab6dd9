import type { Server } from './Server';

/** Options of a realm. */
export interface RealmOptions {
  /** Number of FAS users. Default: 200; tested up to 100,000. */
  users?: number;
  /**
   * Path of an LDIF file that replaces the generated entries; it contains
   * entries below FreeIPA's containers of `dc=example,dc=test`. `users` and
   * `demo` are then ignored.
   */
  ldif?: string;
  /** `fas` (default), or `freeipa`: without the Fedora Account System. */
  schema?: 'fas' | 'freeipa';
  /**
   * Whether the descriptions and links of groups are written for people, as in
   * `make start`. Default: false, with characters that have a meaning in LDAP.
   */
  demo?: boolean;
  /**
   * `immediate` (default): an operation ends after its line is written to the
   * access log, so that tests can read it. `buffered`: as in FreeIPA, and
   * several times faster.
   */
  accessLog?: 'immediate' | 'buffered';
}

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
  /** Environment variables of programs that use the realm. */
  readonly env: Readonly<Record<string, string>>;
  /** Controls the directory server, which keeps its ports. */
  readonly directory: Pick<
    Server,
    'start' | 'stop' | 'kill' | 'pause' | 'resume'
  >;

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
}
