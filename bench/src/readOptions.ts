/** What a run is asked to do. */
export interface BenchOptions {
  /** How many users the realm has. */
  readonly users: number;
  /** Only rows whose name contains this. */
  readonly only: string;
  /** Folder for a CPU profile of the portal. */
  readonly profileTo?: string;
}

/**
 * Reads `USERS` (default 20,000), `ONLY` (part of the names of rows) and
 * `PROFILE` (a folder).
 *
 * @throws Error when USERS is no number of people
 */
export function readOptions(env: NodeJS.ProcessEnv): BenchOptions {
  const users = Number(env.USERS || 20_000);
  if (!Number.isSafeInteger(users) || users < 1) {
    throw new Error(`USERS: "${env.USERS}" is not a number of people`);
  }
  return { users, only: env.ONLY ?? '', profileTo: env.PROFILE || undefined };
}
