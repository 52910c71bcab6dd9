export interface Config {
  auth?: {
    providers?: {
      /**
       * Signs people in with their Kerberos tickets. How tickets are accepted
       * (keytab, realms) is the `kerberos` block.
       */
      kerberos?: {
        signIn: {
          /**
           * Who a ticket's holder is in the portal: asked in this order, the
           * next one when one knows nobody.
           */
          resolvers: Array<
            | {
                /**
                 * The user of the catalog whose annotation
                 * `directory-gateway/kerberos-principal` is the principal, as
                 * in `alice@EXAMPLE.TEST`.
                 */
                resolver: 'principalMatchingUserEntityAnnotation';
              }
            | {
                /**
                 * The user of the catalog whose name is the principal's. With
                 * this you say that equal names are the same person.
                 */
                resolver: 'usernameMatchingUserEntityName';
                /** Namespace of the user. Default: `default`. */
                namespace?: string;
                /**
                 * Realms whose names are meant. Default: the portal's own realm,
                 * which is every accepted one that `kerberos.realms` does not
                 * list.
                 */
                realms?: string[];
                /**
                 * Lets in whoever the KDC vouches for, with or without a user in
                 * the catalog. Default: false.
                 */
                dangerouslyAllowSignInWithoutUserInCatalog?: boolean;
              }
            | {
                /**
                 * The user of the directory with that name, with or without a
                 * user in the catalog. Asks the plugin `directory` at each
                 * sign-in: a locked account is refused.
                 */
                resolver: 'directoryUser';
                /** Namespace of the user. Default: `default`. */
                namespace?: string;
                /**
                 * Realms whose names are meant. Default: the portal's own realm,
                 * which is every accepted one that `kerberos.realms` does not
                 * list.
                 */
                realms?: string[];
              }
          >;
        };
      };
    };
  };
}
