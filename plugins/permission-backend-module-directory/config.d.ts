export interface Config {
  permission?: {
    /**
     * Permission policy for a portal with the directory gateway.
     *
     * @example
     * ```yaml
     * permission:
     *   enabled: true
     *   directory:
     *     administrators: [group:default/portal-admins]
     *     rules:
     *       - permissions: [scaffolder.template.parameter.read]
     *         allow: [everyone]
     *       - permissions: [directory.certificate.sign]
     *         allow: [group:default/packager]
     * ```
     */
    directory?: {
      /**
       * Users and groups with every permission that the policy covers, as entity
       * references such as `user:default/alice`.
       * @default []
       */
      administrators?: string[];
      /**
       * Rules that replace the default of the policy for individual
       * permissions. Permissions that neither the policy nor a rule names are
       * denied to every user. Default: no rules.
       */
      rules?: Array<{
        /** Names of permissions, such as `scaffolder.task.create`. */
        permissions: string[];
        /**
         * Entity references of users and groups who have these permissions, in
         * addition to the administrators. `everyone` is every signed-in user
         * except guests.
         */
        allow: string[];
      }>;
      /**
       * Whether guests (`user:development/guest` and
       * `auth.providers.guest.userEntityRef`) are treated like other users, for
       * demonstrations only. Otherwise they have no permissions.
       * @default false
       */
      dangerouslyAllowGuests?: boolean;
    };
  };
}
