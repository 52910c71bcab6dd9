import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Returns the output of OpenSSL.
 *
 * @throws Error with its error output when it fails.
 */
export async function openssl(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('openssl', args);
  return stdout;
}
