import type { Group } from './Group';

/** A group that is nested in another. */
export interface MemberGroup {
  readonly group: Group;
  /** Whether served groups are nested in it in turn. */
  readonly hasMemberGroups: boolean;
}
