import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * What OpenSSL says.
 *
 * @throws Error with what it said when it fails.
 */
export async function openssl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('openssl', args);
  return stdout;
}
