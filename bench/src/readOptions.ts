/** What a run is asked to do. */
export interface BenchOptions {
  /** How many users the realm has. */
  readonly users: number;
  /** Only rows whose name matches this. */
  readonly only: RegExp;
  /** As `directory.reads`. */
  readonly reads: 'direct' | 'replica';
  /** Folder for a CPU profile of the portal. */
  readonly profileTo?: string;
}

/**
 * Reads `USERS` (default 20,000), `ONLY` (a regular expression for the names of
 * rows), `READS` (default `replica`) and `PROFILE` (a folder).
 *
 * @throws Error when USERS is no number of people, ONLY no expression or READS
 *   nothing that the directory's configuration knows
 */
export function readOptions(env: NodeJS.ProcessEnv): BenchOptions {
  const users = Number(env.USERS || 20_000);
  if (!Number.isSafeInteger(users) || users < 1) {
    throw new Error(`USERS: "${env.USERS}" is not a number of people`);
  }
  const reads = env.READS || 'replica';
  if (reads !== 'direct' && reads !== 'replica') {
    throw new Error(`READS: "${reads}" is neither direct nor replica`);
  }
  return {
    users,
    reads,
    only: new RegExp(env.ONLY ?? ''),
    profileTo: env.PROFILE || undefined,
  };
}
