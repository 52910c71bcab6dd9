/**
 * How far a server is in the replication between servers: the replica update
 * vector of 389 Directory Server.
 */
export interface ReplicationState {
  /** States of different generations of the data cannot be compared. */
  readonly generation: string;
  /**
   * The latest change that the server has of each server, by replica ID: a
   * change sequence number of fixed length, or '' before the first change.
   */
  readonly latest: ReadonlyMap<string, string>;
}

/** What one server has of the changes of others. */
export type Coverage =
  /** All of them. */
  | 'covered'
  /** Some are missing. */
  | 'behind'
  /** The states cannot be compared. */
  | 'unknown';

/** Whether a server has the changes that are required. */
export function coverageOf(
  required: ReplicationState | undefined,
  state: ReplicationState | undefined,
): Coverage {
  if (!required || !state || required.generation !== state.generation) {
    return 'unknown';
  }
  let coverage: Coverage = 'covered';
  for (const [id, change] of required.latest) {
    const latest = state.latest.get(id);
    if (latest === undefined) {
      return 'unknown';
    }
    if (latest < change) {
      coverage = 'behind';
    }
  }
  return coverage;
}

/** The changes of both; `undefined` when they cannot be compared. */
export function mergeStates(
  a: ReplicationState | undefined,
  b: ReplicationState | undefined,
): ReplicationState | undefined {
  if (!a || !b || a.generation !== b.generation) {
    return undefined;
  }
  const latest = new Map(a.latest);
  for (const [id, change] of b.latest) {
    const other = latest.get(id);
    latest.set(id, other !== undefined && other > change ? other : change);
  }
  return { generation: a.generation, latest };
}
