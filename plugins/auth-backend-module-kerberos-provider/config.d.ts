export interface Config {
  auth?: {
    providers?: {
      /**
       * Signs users in with Kerberos tickets. The `kerberos` block configures
       * how tickets are accepted (keytab, realms).
       */
      kerberos?: {
        signIn: {
          /**
           * Maps a principal to a portal user. Resolvers are tried in order
           * until one finds a user. Each requires a live account of the
           * principal in the plugin `directory`, at sign-in and at each renewal:
           * a locked or expired account is refused within 5 seconds. While no
           * directory server responds, only users who were looked up within
           * the last hour sign in.
           */
          resolvers: Array<
            | {
                /**
                 * The user of the catalog whose annotation
                 * `directory-gateway/kerberos-principal` is the principal, for
                 * example `alice@EXAMPLE.TEST`. Requires
                 * `directory.trustedLocations`.
                 */
                resolver: 'principalMatchingUserEntityAnnotation';
              }
            | {
                /**
                 * The user of the catalog with the name of the principal and of
                 * its account. Requires `directory.trustedLocations`, unless
                 * users do not need to be in the catalog.
                 */
                resolver: 'usernameMatchingUserEntityName';
                /** Namespace of the user. Default: `default`. */
                namespace?: string;
                /**
                 * Realms that this resolver accepts. Default: the portal's own
                 * realm.
                 */
                realms?: string[];
                /**
                 * Signs in users of the directory who are not in the catalog.
                 * Default: false.
                 */
                dangerouslyAllowSignInWithoutUserInCatalog?: boolean;
              }
            | {
                /**
                 * The user with the name of the principal and of its account,
                 * with or without a user in the catalog.
                 */
                resolver: 'directoryUser';
                /** Namespace of the user. Default: `default`. */
                namespace?: string;
                /**
                 * Realms that this resolver accepts. Default: the portal's own
                 * realm.
                 */
                realms?: string[];
              }
          >;
        };
      };
    };
  };
}
