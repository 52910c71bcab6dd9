export interface Config {
  auth?: {
    providers?: {
      /**
       * Guest provider of Backstage. The sign-in page offers it when this block
       * is set, in development or with `dangerouslyAllowOutsideDevelopment`.
       *
       * @example
       * ```yaml
       * auth:
       *   providers:
       *     guest:
       *       userEntityRef: user:default/alice
       * ```
       * @visibility frontend
       */
      guest?: {
        /**
         * Entity reference of the guest, whose name the sign-in page shows.
         * Default: `user:development/guest`.
         * @visibility frontend
         */
        userEntityRef?: string;
        /**
         * Whether guests may sign in outside development.
         * @default false
         * @visibility frontend
         */
        dangerouslyAllowOutsideDevelopment?: boolean;
      };
    };
  };
}
