/** Where a server's data stands. */
export interface Position {
  /** Identifies the server and its data. */
  readonly server: string;
  /** Opaque; only {@link ComparePositions} compares it. */
  readonly value: string;
}

/**
 * Returns how the second position stands to the first one; `other` when they
 * cannot be compared because they belong to different servers.
 */
export type ComparePositions = (
  a: Position,
  b: Position,
) => 'same' | 'later' | 'earlier' | 'other';
