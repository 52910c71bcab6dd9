import type { Group } from './Group';

/** A group that a user is in, and why. */
export interface Membership {
  readonly group: Group;
  /** Whether the group itself names the user. */
  readonly direct: boolean;
  /** Whether the user manages its members, in person or through a group. */
  readonly sponsor: boolean;
  /**
   * Names of a shortest chain of groups, each in the next: the first names the
   * user, the last is this group. `undefined` stands for one that is not
   * served. Of several chains it is the first by the groups' DNs.
   */
  readonly path: readonly (string | undefined)[];
}

/** Which members are meant, by how they are in a group. */
export type MembershipKind =
  /** The group itself names them. */
  | 'direct'
  /** They are in through nested groups alone. */
  | 'indirect';
