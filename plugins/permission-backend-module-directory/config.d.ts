export interface Config {
  permission?: {
    /** The policy of a portal with the directory gateway. */
    directory?: {
      /**
       * Users and groups who have every permission that the policy knows, as
       * entity references such as `user:default/alice` or
       * `group:default/portal-admins`. Default: none.
       */
      administrators?: string[];
      /**
       * Who has a permission besides the administrators, in place of the
       * policy's default. A permission that the policy does not know is denied
       * to everyone, administrators included, until a rule names it.
       */
      rules?: Array<{
        /** Names of permissions, such as `scaffolder.task.create`. */
        permissions: string[];
        /**
         * Entity references of users and groups, or `everyone` for every
         * signed-in user except guests. An empty list leaves the permissions to
         * the administrators.
         */
        allow: string[];
      }>;
      /**
       * Treats guests like other users. A guest is `user:development/guest` or
       * `auth.providers.guest.userEntityRef`. For demonstrations only. Default:
       * false, which denies guests everything.
       */
      dangerouslyAllowGuests?: boolean;
    };
  };
}
