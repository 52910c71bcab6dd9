import type { User } from './User';

/** A list of users that is read while it is sent. */
export interface UserStream {
  /** How many there are, as the reading begins. */
  readonly total: number;
  /**
   * All of them in order, some at a time, each portion read when it is asked
   * for. Ends with an error when the directory does not give them all.
   */
  readonly portions: AsyncIterable<readonly User[]>;
}
