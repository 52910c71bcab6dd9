/**
 * Reads `USERS` (default 20,000) and `MINUTES` (default 20).
 *
 * @throws Error when one of them is no such number
 */
export function readSoakOptions(env: NodeJS.ProcessEnv): {
  readonly users: number;
  readonly minutes: number;
} {
  return {
    users: readCount(env, 'USERS', 20_000),
    minutes: readCount(env, 'MINUTES', 20),
  };
}

function readCount(
  env: NodeJS.ProcessEnv,
  name: string,
  otherwise: number,
): number {
  const count = Number(env[name] || otherwise);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new Error(`${name}: "${env[name]}" is not a number from 1`);
  }
  return count;
}
