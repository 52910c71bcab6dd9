import { execFile } from 'node:child_process';

/**
 * Runs OpenSSL.
 *
 * @returns its standard output
 * @throws Error with its error output when it fails.
 */
export async function openssl(
  args: readonly string[],
  input: Buffer = Buffer.alloc(0),
): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const child = execFile(
      'openssl',
      args,
      { encoding: 'buffer' },
      (error, stdout, stderr) =>
        error ? reject(new Error(stderr.toString())) : resolve(stdout),
    );
    child.stdin?.on('error', () => {}); // OpenSSL may exit before it has read all input
    child.stdin?.end(input);
  });
}
