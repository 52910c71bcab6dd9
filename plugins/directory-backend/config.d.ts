import type { HumanDuration } from '@backstage/types';

export interface Config {
  directory: {
    ldap: {
      /**
       * The directory's servers in order of preference: `ldaps://` URLs, or
       * `ldap://` with `startTls` or on localhost. A server is used until it
       * fails, or until a preferred one has been available for 10 minutes.
       */
      servers?: string[];
      /** DNS SRV records that list the servers (RFC 2782), instead of `servers`. */
      srv?: {
        /**
         * `_ldap._tcp.example.org`, which needs `startTls`, or
         * `_ldaps._tcp.example.org`.
         */
        name: string;
        /**
         * DNS domain of the servers. Records with other targets are ignored.
         * Default: the part of `name` after the labels that begin with an
         * underscore, such as `example.org`.
         */
        domain?: string;
        /** Time between two DNS queries. Default: 5 minutes. */
        refresh?: HumanDuration | string;
      };
      /** Secure `ldap://` connections with StartTLS. Default: false. */
      startTls?: boolean;
      /**
       * PEM file of the CAs to trust instead of those of the system. It is read
       * for each new connection. FreeIPA's is `/etc/ipa/ca.crt`.
       */
      caFile?: string;
      /** The directory's suffix, for example `dc=example,dc=org`. */
      baseDn: string;
      /**
       * The service account, for example
       * `uid=portal,cn=sysaccounts,cn=etc,dc=example,dc=org`.
       */
      bindDn: string;
      /**
       * File with the account's password. It is read for each new connection.
       * Set this or `bindPassword`.
       */
      bindPasswordFile?: string;
      /**
       * The account's password.
       * @visibility secret
       */
      bindPassword?: string;
      /** Maximum time to connect, start TLS and bind. Default: 2 seconds. */
      connectTimeout?: HumanDuration | string;
      /**
       * Maximum time of one operation, and of each page of a long result.
       * Default: 5 seconds.
       */
      operationTimeout?: HumanDuration | string;
      /** Maximum number of connections to a server. Default: 16. */
      maxConnections?: number;
      /**
       * Maximum number of pending operations on a connection. With more than
       * one, 389 Directory Server sometimes delays a response by 100 ms or more;
       * see docs/performance.md. Default: 1.
       */
      pipelining?: number;
      /**
       * Maximum number of operations that wait while all connections are busy;
       * further ones get 503. Default: 1000.
       */
      maxQueued?: number;
      /**
       * Time after which an idle connection is probed, so that no caller waits
       * for a lost connection. Default: 15 seconds.
       */
      idleProbe?: HumanDuration | string;
      breaker?: {
        /**
         * Consecutive failures, without a response in the last second, after
         * which a server is excluded. Default: 3.
         */
        failures?: number;
        /**
         * Time before the first probe of an excluded server, in the
         * background. Default: 100 milliseconds.
         */
        initial?: HumanDuration | string;
        /** Maximum time between two probes. Default: 1 second. */
        max?: HumanDuration | string;
      };
      /**
       * Interval of the check that the service account may read the attributes
       * that privacy and authentication depend on. Default: 1 minute.
       */
      probeInterval?: HumanDuration | string;
    };

    /**
     * The replica in memory, from which users, groups and memberships are
     * read. It follows the directory by USN and persistent search, as FreeIPA
     * allows them. Without one of them it follows more slowly and logs a
     * warning.
     */
    replica?: {
      /**
       * Age of the replica above which requests get 503: reads continue as
       * long while the directory is unreachable. At least 5 seconds.
       * Default: 1 minute.
       */
      maxStaleness?: HumanDuration | string;
      /**
       * Maximum share of users or groups that may be deleted in 24 hours, 0 to
       * 1, beyond the first ten. When more are missing, reads return 503 until
       * an administrator runs the action `override-deletion-guard`: a directory whose
       * access rules were broken looks the same. Default: 0.2.
       */
      maxShrinkage?: number;
    };

    /**
     * The directory's attributes: FreeIPA with the extension freeipa-fas, or
     * FreeIPA alone. Default: fas.
     */
    schema?: 'fas' | 'freeipa';
    /**
     * Single attributes in place of the schema's, by the API's field, for
     * example `{ timezone: 'myTimeZone' }`.
     */
    attributes?: { [field: string]: string };

    privacy?: {
      /**
       * The fields that a private profile hides. Default: human_name, surname,
       * givenname, ircnicks, locale, timezone, gpgkeyids, sshpubkeys,
       * github_username, gitlab_username, pronouns, websites, rssurls.
       */
      hiddenFields?: string[];
      /** Callers who see private profiles. Default: only their owners. */
      trustedReaders?: {
        /** User names, or service principals without their realm. */
        principals?: string[];
        /** Names of groups; members of nested groups count. */
        groups?: string[];
      };
    };

    /**
     * Operations of callers, for each kind of credential. By default, users may
     * read and request certificates for themselves, and no one may do more; with
     * this list, a user needs a rule. Services of the portal may read, and need a
     * rule for everything else. For portal tokens, the portal's permission policy
     * must allow the operation as well.
     */
    access?: Array<{
      /**
       * User names, or service principals without their realm; `*` is every
       * caller with a directory entry.
       */
      principals?: string[];
      /** Names of groups; members of nested groups count. */
      groups?: string[];
      /**
       * Portal users that `directory.portalUsers` does not map to a directory
       * user, as entity references such as `user:default/alice`; `*` is all of
       * them.
       */
      portalUsers?: string[];
      /**
       * Services by the subject of their token: `plugin:catalog`, or the
       * `subject` of an external access token.
       */
      services?: string[];
      /**
       * Some of `directory.read`, `directory.certificate.sign`,
       * `directory.certificate.revoke`, `directory.members.export`,
       * `directory.replica.override`.
       */
      operations: string[];
    }>;

    /**
     * Issuing and revoking certificates. Without it, the gateway only reads the
     * certificates in user entries.
     */
    certificates?: {
      /** The CA that issues certificates: `embedded`, `freeipa`, or that of a module. */
      authority: string;
      /** Further CAs whose certificates are read, in this order. */
      read?: string[];
      /** The available profiles. Default: `userCerts` for all users. */
      profiles?: Array<{
        /** Name of a profile of the CA. */
        name: string;
        /** Purpose of the profile, shown to users. */
        purpose?: string;
        /** Groups whose members may use the profile. Default: all users. */
        allowedGroups?: string[];
      }>;
      /** Default: the first of `profiles`. */
      defaultProfile?: string;
      /** Callers who may request certificates for other users. Default: none. */
      signers?: {
        /** User names, or service principals without their realm. */
        principals?: string[];
        /** Names of groups; members of nested groups count. */
        groups?: string[];
      };
      /**
       * Groups whose members' certificates signers cannot request. Default:
       * admins.
       */
      protectedGroups?: string[];
      /**
       * Whose certificates callers see: their own, those of users that the API
       * serves, or all. It applies to every route, also for trusted readers.
       * `privacy.hiddenFields: [certificates]` restricts it further. Default:
       * all.
       */
      readable?: 'own' | 'users' | 'all';
      /**
       * Notifications to users whose certificates expire, through the portal's
       * notifications plugin if it is installed. They are sent to the portal users
       * of `directory.portalUsers`.
       */
      reminders?: {
        /**
         * Days before the expiry, unless the certificate has been renewed. No
         * notification is sent on the first day of a certificate. An empty list
         * disables notifications. Default: 30, 14, 7 and 1.
         */
        daysBefore?: number[];
        /** Interval of the search for expiring certificates. Default: 6 hours. */
        every?: HumanDuration | string;
      };
      /**
       * Whether certificates are requested and revoked with a portal token
       * only: a Kerberos ticket or session gets 403. It protects against a
       * Negotiate token that another host received, if users do not sign in to
       * the portal with Kerberos either. Needs
       * `directory.portalUsers.mayRequestCertificates`. Default: false.
       */
      requirePortalToken?: boolean;
      /** Maximum number of signing requests per caller. */
      limit?: {
        /** Default: 60. */
        requests?: number;
        /** Time window, in whole seconds. Default: 1 minute. */
        per?: HumanDuration | string;
      };
    };

    /**
     * Session cookies for API clients, which then do not need to send a ticket
     * with each request. They are read-only and never issued to browsers.
     */
    sessions?: {
      /** Default: true. */
      enabled?: boolean;
      /** Lifetime of a session. Maximum and default: 15 minutes. */
      maxAge?: HumanDuration | string;
      /**
       * Keys of session cookies: the first encrypts, all decrypt. All processes of
       * the portal need the same keys. Read at start. Default: a random key per
       * process.
       */
      keys?: Array<{
        /**
         * At least 32 random bytes in base64 or hexadecimal, as
         * `openssl rand -base64 32` prints them. Set this or `secretFile`.
         * @visibility secret
         */
        secret?: string;
        /** File with the key. */
        secretFile?: string;
      }>;
    };

    /**
     * The API in the dialect of FASJSON, for its clients, below
     * `/api/directory/fasjson/`; see docs/fasjson-differences.md.
     */
    fasjson?: {
      /** Default: false. */
      enabled?: boolean;
      /**
       * URL for clients if a proxy maps the API elsewhere, for example
       * `https://fasjson.example.org`. Default: below the portal.
       */
      baseUrl?: string;
    };

    /**
     * Catalog locations that only administrators can change: values of the
     * annotation `backstage.io/managed-by-origin-location`, for example
     * `file:/etc/portal/org.yaml` or `url:https://git.example.org/org.yaml`. The
     * locations of an entity provider may be named by a prefix, for example
     * `msgraph:default/*`. Annotations of users are identities, and groups of
     * users are claims of their tokens, only on entities from these locations.
     * Required when identities are mapped by annotation; then `catalog.rules`
     * must not allow `User` from any location. Default: none.
     */
    trustedLocations?: string[];

    /**
     * Maps portal users to directory users. Every sign-in provider of the portal
     * must be trusted to verify the name. Without it, portal users read public
     * fields only. A portal user who is mapped to a name without an active account
     * gets 401.
     */
    portalUsers?: {
      /** The namespace of the user entities, for example `default`. */
      namespace: string;
      /**
       * Source of the user name: the entity's name, or its annotation
       * `directory-gateway/username`, which is accepted only on entities from
       * `directory.trustedLocations`.
       */
      username: 'entityName' | 'annotation';
      /**
       * Whether portal users may also request certificates: every sign-in provider
       * can then obtain certificates of the mapped users. Default: false.
       */
      mayRequestCertificates?: boolean;
    };
  };
}
