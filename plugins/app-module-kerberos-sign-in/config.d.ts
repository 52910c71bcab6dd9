export interface Config {
  auth?: {
    providers?: {
      /**
       * Backstage's guest provider. The sign-in page offers it when this block
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
         * Entity reference of the guest. The sign-in page shows its name.
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
