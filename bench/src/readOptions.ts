/** What a run is asked to do. */
export interface BenchOptions {
  /** How many users the realm has. */
  readonly users: number;
  /** Only rows whose name matches this. */
  readonly only: RegExp;
  /** Folder for a CPU profile of the portal. */
  readonly profileTo?: string;
}

/**
 * Reads `USERS` (default 20,000), `ONLY` (a regular expression for the names of
 * rows) and `PROFILE` (a folder).
 *
 * @throws Error when USERS is no number of people or ONLY no expression
 */
export function readOptions(env: NodeJS.ProcessEnv): BenchOptions {
  const users = Number(env.USERS || 20_000);
  if (!Number.isSafeInteger(users) || users < 1) {
    throw new Error(`USERS: "${env.USERS}" is not a number of people`);
  }
  return {
    users,
    only: new RegExp(env.ONLY ?? ''),
    profileTo: env.PROFILE || undefined,
  };
}
