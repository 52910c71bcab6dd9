export interface Config {
  catalog?: {
    providers?: {
      /**
       * Users and groups of the directory as entities. The block is optional.
       *
       * @example
       * ```yaml
       * catalog:
       *   providers:
       *     directory:
       *       maxMembers: 500
       * ```
       */
      directory?: {
        /**
         * Namespace of the entities.
         * @default default
         */
        namespace?: string;
        /**
         * Maximum number of direct members of a group. Entities omit memberships
         * in larger groups; the entity of such a group links to the group's page
         * instead.
         * @default 1000
         */
        maxMembers?: number;
        /**
         * Maximum percentage of entities that may be removed at once. If more
         * than this percentage, and more than 10 entities, would be removed, none
         * are removed and an error is logged.
         * @default 5
         */
        rejectRemovalsAbovePercentage?: number;
      };
    };
  };
}
