import { execFile } from 'node:child_process';

/**
 * Runs OpenSSL.
 *
 * @returns what it writes to its standard output.
 * @throws Error when it fails, with its complaints.
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
    child.stdin?.on('error', () => {}); // it may end before it has read all
    child.stdin?.end(input);
  });
}
