import type { HumanDuration } from '@backstage/types';

export interface Config {
  /**
   * The directory gateway. `directory.ldap` is the only block that must be set.
   *
   * @example
   * ```yaml
   * directory:
   *   schema: freeipa
   *   attributes:
   *     timezone: myTimeZone
   *   trustedLocations:
   *     - url:https://git.example.org/portal/org.yaml
   * ```
   */
  directory: {
    /**
     * Connections to the LDAP servers of FreeIPA.
     *
     * @example
     * ```yaml
     * directory:
     *   ldap:
     *     servers:
     *       - ldaps://ipa1.example.org
     *       - ldaps://ipa2.example.org
     *     caFile: /etc/ipa/ca.crt
     *     baseDn: dc=example,dc=org
     *     bindDn: uid=portal,cn=sysaccounts,cn=etc,dc=example,dc=org
     *     bindPasswordFile: /etc/portal/ldap-password
     * ```
     */
    ldap: {
      /**
       * Servers in order of preference: `ldaps://` URLs, or `ldap://` URLs with
       * `startTls` or on localhost. A server is used until it fails, or until a
       * server earlier in the list has been available for 10 minutes. Required
       * unless `srv` is set.
       */
      servers?: string[];
      /**
       * DNS SRV records that list the servers (RFC 2782), instead of `servers`.
       */
      srv?: {
        /**
         * Name of the records: `_ldaps._tcp.example.org`, or
         * `_ldap._tcp.example.org` with `startTls`.
         */
        name: string;
        /**
         * DNS domain of the servers. Records with targets outside it are
         * ignored. Default: the part of `name` after the labels that begin with
         * an underscore.
         */
        domain?: string;
        /**
         * Interval of DNS queries.
         * @default 5 minutes
         */
        refresh?: HumanDuration | string;
      };
      /**
       * Whether `ldap://` connections are secured with StartTLS.
       * @default false
       */
      startTls?: boolean;
      /**
       * PEM file of the trusted CAs, read for each new connection. FreeIPA's is
       * `/etc/ipa/ca.crt`. Default: the CAs of Node.js.
       */
      caFile?: string;
      /** Suffix of the directory, for example `dc=example,dc=org`. */
      baseDn: string;
      /** DN of the service account. */
      bindDn: string;
      /**
       * File with the password of the service account, read for each new
       * connection. Required unless `bindPassword` is set.
       */
      bindPasswordFile?: string;
      /**
       * Password of the service account. Required unless `bindPasswordFile` is
       * set.
       * @visibility secret
       */
      bindPassword?: string;
      /**
       * Maximum time to connect, start TLS and bind.
       * @default 2 seconds
       */
      connectTimeout?: HumanDuration | string;
      /**
       * Maximum time of each page of a long result, such as all users.
       * @default 5 seconds
       */
      operationTimeout?: HumanDuration | string;
      /**
       * Maximum time for which a request waits for one lookup of an account or
       * one access check. If a server does not respond for 60 % of this time, the
       * next one is used.
       * @default 1 second
       */
      decisionTimeout?: HumanDuration | string;
      /**
       * Interval of the access check: whether the service account can read the
       * attributes on which privacy and authentication depend.
       * @default 1 minute
       */
      probeInterval?: HumanDuration | string;
    };

    /**
     * The in-memory replica, which serves users, groups and memberships. It
     * follows the directory by USN (update sequence number). Without access to
     * USNs, it is updated by full syncs, and a warning is logged.
     *
     * @example
     * ```yaml
     * directory:
     *   replica:
     *     maxStaleness: 5 minutes
     *     maxShrinkage: 0.1
     * ```
     */
    replica?: {
      /**
       * Maximum age of the replica, at least 5 seconds. If the directory is
       * unreachable, reads get 503 once the replica is older. Without USNs, the
       * limit is at least two sync intervals plus the duration of a sync.
       * @default 1 minute
       */
      maxStaleness?: HumanDuration | string;
      /**
       * Share of users or groups, 0 to 1, that may be missing compared with the
       * highest count of the last 24 hours. Up to ten may always be missing. When
       * more are missing, or all of them, reads get 503 until the entries return
       * or an administrator runs the action `override-deletion-guard`.
       * @default 0.2
       */
      maxShrinkage?: number;
    };

    /**
     * Attributes of the directory: FreeIPA with the extension freeipa-fas, or
     * FreeIPA alone.
     * @default fas
     */
    schema?: 'fas' | 'freeipa';
    /**
     * LDAP attributes that replace those of `schema`, by API field.
     */
    attributes?: { [field: string]: string };

    /**
     * Fields of private profiles.
     *
     * @example
     * ```yaml
     * directory:
     *   privacy:
     *     hiddenFields: [surname, givenname, human_name, certificates]
     *     trustedReaders:
     *       principals: [HTTP/accounts.example.org]
     *       groups: [admins]
     * ```
     */
    privacy?: {
      /**
       * Fields that a private profile hides.
       * @default ["surname", "givenname", "human_name", "ircnicks", "locale", "timezone", "gpgkeyids", "sshpubkeys", "github_username", "gitlab_username", "pronouns", "websites", "rssurls"]
       */
      hiddenFields?: string[];
      /** Callers who see private profiles in full, like their owners. */
      trustedReaders?: {
        /**
         * User names, or service principals without their realm.
         * @default []
         */
        principals?: string[];
        /**
         * Names of groups. Members of nested groups are included.
         * @default []
         */
        groups?: string[];
      };
    };

    /**
     * Access rules, each of which allows callers to perform operations. Without
     * this list, users may read the directory and request certificates for
     * themselves. With it, a user needs a rule for each operation. Services of
     * the portal may always read, and need a rule for everything else. For
     * portal tokens, the permission policy of the portal must allow the
     * operation as well.
     *
     * @example
     * ```yaml
     * directory:
     *   access:
     *     - principals: ['*']
     *       portalUsers: ['*']
     *       operations: [directory.read, directory.certificate.sign]
     *     - groups: [admins]
     *       operations:
     *         - directory.certificate.revoke
     *         - directory.members.export
     *         - directory.replica.override
     * ```
     */
    access?: Array<{
      /**
       * User names, or service principals without their realm. `*` matches
       * all callers with a directory entry.
       * @default []
       */
      principals?: string[];
      /**
       * Names of groups. Members of nested groups are included.
       * @default []
       */
      groups?: string[];
      /**
       * Portal users without a directory user (see `directory.portalUsers`), as
       * entity references such as `user:default/alice`. `*` matches all of
       * them.
       * @default []
       */
      portalUsers?: string[];
      /**
       * Subjects of service tokens: `plugin:catalog`, or the `subject` of an
       * external access token.
       * @default []
       */
      services?: string[];
      /**
       * Operations that the callers of this rule may perform.
       * `directory.history.locks.read` has no effect.
       */
      operations: Array<
        | 'directory.read'
        | 'directory.certificate.sign'
        | 'directory.certificate.revoke'
        | 'directory.members.export'
        | 'directory.history.read'
        | 'directory.history.locks.read'
        | 'directory.replica.override'
      >;
    }>;

    /**
     * Issuance and revocation of certificates. Without this block, the gateway
     * returns only the certificates in user entries.
     *
     * @example
     * ```yaml
     * directory:
     *   certificates:
     *     authority: freeipa
     *     profiles:
     *       - name: userCerts
     *         purpose: Sign in to internal sites
     *       - name: codeSigning
     *         purpose: Sign packages
     *         allowedGroups: [packager]
     *     readable: own
     *     reminders:
     *       daysBefore: [14, 3]
     * ```
     */
    certificates?: {
      /**
       * CA (certificate authority) that issues certificates: `embedded`,
       * `freeipa`, or the CA of another module.
       */
      authority: string;
      /**
       * Additional CAs whose certificates can be read, in lookup order.
       * @default []
       */
      read?: string[];
      /** Available profiles. Default: `userCerts` for all users. */
      profiles?: Array<{
        /** Name of a profile of the CA. */
        name: string;
        /** Purpose of the profile, shown to users. */
        purpose?: string;
        /** Groups whose members may use the profile. Default: all users. */
        allowedGroups?: string[];
      }>;
      /**
       * Profile of requests that do not name one. Default: the first of
       * `profiles`.
       */
      defaultProfile?: string;
      /** Callers who may request certificates for other users. */
      signers?: {
        /**
         * User names, or service principals without their realm.
         * @default []
         */
        principals?: string[];
        /**
         * Names of groups. Members of nested groups are included.
         * @default []
         */
        groups?: string[];
      };
      /**
       * Groups for whose members `signers` cannot request certificates.
       * @default ["admins"]
       */
      protectedGroups?: string[];
      /**
       * Certificates that callers, including trusted readers, see on every
       * route: their own, those of users that the API returns, or all.
       * @default all
       */
      readable?: 'own' | 'users' | 'all';
      /**
       * Notifications to users whose certificates expire, sent by the portal's
       * notifications plugin to the users of `directory.portalUsers`.
       */
      reminders?: {
        /**
         * Days before expiry on which a notification is sent, unless the
         * certificate has been renewed or is less than a day old. `[]` disables
         * notifications.
         * @default [30, 14, 7, 1]
         */
        daysBefore?: number[];
      };
      /**
       * Holds on the certificates of locked and deleted users. A hold is a
       * revocation that the gateway releases when the account is unlocked or
       * restored.
       */
      accountHolds?: {
        /**
         * Whether the gateway puts certificates on hold. The backend does not
         * start if `true` and the issuing CA does not support holds. Existing
         * holds are released in any case.
         * @default false
         */
        enabled?: boolean;
        /**
         * Time from the hold to the revocation of the certificates of a deleted
         * user.
         * @default 7 days
         */
        revokeDeletedAfter?: HumanDuration | string;
      };
      /**
       * Whether requesting, renewing and revoking certificates requires a portal
       * token. SPNEGO tokens get 403, so that machines cannot renew
       * certificates. Requires `directory.portalUsers.mayRequestCertificates`.
       * @default false
       */
      requirePortalToken?: boolean;
      /**
       * Maximum number of unexpired certificates per user, including revoked
       * ones. Further requests get 403.
       * @default 100
       */
      maxPerUser?: number;
      /**
       * Rate limit per caller for signing requests and for revocations of the
       * caller's own certificates.
       */
      limit?: {
        /**
         * Maximum number of requests in the time window.
         * @default 60
         */
        requests?: number;
        /**
         * Time window, in whole seconds.
         * @default 1 minute
         */
        per?: HumanDuration | string;
      };
    };

    /**
     * Log of changes to users, groups and memberships, which API clients and the
     * catalog follow with `GET /v1/changes/`.
     *
     * @example
     * ```yaml
     * directory:
     *   changes:
     *     history: true
     * ```
     */
    changes?: {
      /**
       * Time for which changes are kept, at least 1 day. The changes of deleted
       * users are kept for at most 30 days after the deletion.
       * @default 90 days
       */
      retention?: HumanDuration | string;
      /**
       * Whether to serve membership histories and times of joining. Sponsors can
       * read the history of their groups; users can read their own.
       * @default false
       */
      history?: boolean;
    };

    /**
     * Session cookies, with which an API client needs a Kerberos token only for
     * its first request. Sessions are read-only and are not issued to browsers.
     *
     * @example
     * ```yaml
     * directory:
     *   sessions:
     *     maxAge: 10 minutes
     *     keys:
     *       - secretFile: /etc/portal/session-key
     * ```
     */
    sessions?: {
      /**
       * Whether sessions are issued and accepted.
       * @default true
       */
      enabled?: boolean;
      /**
       * Lifetime of a session, 1 second to 15 minutes.
       * @default 15 minutes
       */
      maxAge?: HumanDuration | string;
      /**
       * Keys of the cookies, read at start: the first key encrypts, all keys
       * decrypt. All processes of the portal need the same keys. Default: a
       * random key for each process.
       */
      keys?: Array<{
        /**
         * At least 32 random bytes in base64 or hexadecimal, for example from
         * `openssl rand -base64 32`. Required unless `secretFile` is set.
         * @visibility secret
         */
        secret?: string;
        /** File with the key. Required unless `secret` is set. */
        secretFile?: string;
      }>;
    };

    /**
     * FASJSON-compatible API at `/api/directory/fasjson/`. FASJSON is the JSON
     * gateway of the Fedora account system.
     *
     * @example
     * ```yaml
     * directory:
     *   fasjson:
     *     enabled: true
     *     baseUrl: https://fasjson.example.org
     * ```
     */
    fasjson?: {
      /**
       * Whether the FASJSON-compatible API is served.
       * @default false
       */
      enabled?: boolean;
      /**
       * URL for clients when a proxy maps the API to another address. Default:
       * the URL of the portal and `/api/directory/fasjson`.
       */
      baseUrl?: string;
    };

    /**
     * Catalog locations that only administrators can change, as values of the
     * annotation `backstage.io/managed-by-origin-location`, or with a prefix
     * such as `msgraph:default/*` for an entity provider. Annotations are
     * accepted as identities, and a user's catalog groups become token claims,
     * only for entities from these locations. Required when identities are
     * mapped by annotation.
     * @default []
     */
    trustedLocations?: string[];

    /**
     * Mapping of portal users to directory users. Each sign-in provider of the
     * portal must be trusted to verify the name. Without this block, portal
     * users read public fields only, and the pages link catalog entities by the
     * annotations `directory-gateway/username` and `directory-gateway/groupname`
     * in the namespace `default`. A portal user who is mapped to a name without
     * an active account gets 401.
     *
     * @example
     * ```yaml
     * directory:
     *   portalUsers:
     *     namespace: default
     *     username: entityName
     *     mayRequestCertificates: true
     * ```
     */
    portalUsers?: {
      /** Namespace of the user and group entities. */
      namespace: string;
      /**
       * Source of the directory name: the name of the entity, or its annotation
       * `directory-gateway/username` (groups: `directory-gateway/groupname`).
       * The backend accepts annotations only on entities from
       * `directory.trustedLocations`.
       */
      username: 'entityName' | 'annotation';
      /**
       * Whether portal users may request certificates. Each sign-in provider can
       * then obtain certificates for the mapped users.
       * @default false
       */
      mayRequestCertificates?: boolean;
    };
  };
}
