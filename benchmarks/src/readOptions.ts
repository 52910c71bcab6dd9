import { modes, type Mode } from './credentials/Credentials';

/** What a run is asked to do. */
export interface BenchOptions {
  /** How many users the realm has. */
  readonly users: number;
  /** Only rows whose name matches this. */
  readonly only: RegExp;
  /** Only rows of these modes. */
  readonly modes: readonly Mode[];
  /** Folder for a CPU profile of the portal in each row. */
  readonly profileTo?: string;
}

/**
 * Reads `USERS` (default 20,000), `ONLY` (a regular expression for the names of
 * rows), `MODES` (a list; default all) and `PROFILE` (a folder).
 *
 * @throws Error when one of them has a value that cannot be meant
 */
export function readOptions(env: NodeJS.ProcessEnv): BenchOptions {
  const users = Number(env.USERS || 20_000);
  if (!Number.isSafeInteger(users) || users < 1) {
    throw new Error(`USERS: "${env.USERS}" is not a number of people`);
  }
  return {
    users,
    modes: readModes(env.MODES || modes.join()),
    only: new RegExp(env.ONLY ?? ''),
    profileTo: env.PROFILE || undefined,
  };
}

function readModes(list: string): readonly Mode[] {
  const names = list.split(',').map(name => name.trim());
  const unknown = names.find(name => !modes.some(mode => mode === name));
  if (unknown !== undefined) {
    throw new Error(`MODES: "${unknown}" is none of ${modes.join(', ')}`);
  }
  return modes.filter(mode => names.includes(mode));
}
