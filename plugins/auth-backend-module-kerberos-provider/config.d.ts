export interface Config {
  auth?: {
    providers?: {
      /**
       * Kerberos sign-in. The block `kerberos` configures the keytab and the
       * realms. Resolvers map principals to portal users, and are tried in order
       * until one finds a user. Each resolver requires an active account of the principal in
       * the directory, at sign-in and at each renewal: a locked or expired
       * account is rejected within 5 seconds. While no directory server
       * responds, only users who were looked up within the last hour can sign
       * in, and only until `directory.replica.maxStaleness` has passed.
       *
       * @example
       * ```yaml
       * auth:
       *   providers:
       *     kerberos:
       *       signIn:
       *         resolvers:
       *           - resolver: directoryUser
       *             namespace: default
       * ```
       */
      kerberos?: {
        signIn: {
          resolvers: Array<
            | {
                /**
                 * The catalog user whose annotation
                 * `directory-gateway/kerberos-principal` is the principal, for
                 * example `alice@EXAMPLE.ORG`. Requires
                 * `directory.trustedLocations`.
                 */
                resolver: 'principalMatchingUserEntityAnnotation';
              }
            | {
                /**
                 * The catalog user whose name equals the principal's name, which
                 * must also be the account's user name. Requires
                 * `directory.trustedLocations`.
                 */
                resolver: 'usernameMatchingUserEntityName';
                /**
                 * Namespace of the user.
                 * @default default
                 */
                namespace?: string;
                /**
                 * Realms that this resolver accepts. Default: the realm of the
                 * portal.
                 */
                realms?: string[];
              }
            | {
                /**
                 * The user whose name equals the principal's name, which must
                 * also be the account's user name. A catalog user is optional.
                 */
                resolver: 'directoryUser';
                /**
                 * Namespace of the user.
                 * @default default
                 */
                namespace?: string;
                /**
                 * Realms that this resolver accepts. Default: the realm of the
                 * portal.
                 */
                realms?: string[];
              }
          >;
        };
      };
    };
  };
}
