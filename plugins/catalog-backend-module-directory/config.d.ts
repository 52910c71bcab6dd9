import type { HumanDuration } from '@backstage/types';

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
         * Maximum number of direct members of a group. Entities do not contain
         * memberships in larger groups, which link to the page of the group.
         * @default 1000
         */
        maxMembers?: number;
        /**
         * Percentage of the entities. If more than this, and more than 10,
         * would be removed at once, none are removed and an error is logged.
         * @default 5
         */
        rejectRemovalsAbovePercentage?: number;
        /**
         * Interval at which all entities are compared with the directory. Changes
         * in between come from the change log (`directory.changes`).
         * @default 1 day
         */
        reconciliationInterval?: HumanDuration | string;
      };
    };
  };
}
