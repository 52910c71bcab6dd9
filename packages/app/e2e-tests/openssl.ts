import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs OpenSSL; what it printed. */
export async function openssl(...args: string[]): Promise<string> {
  const { stdout, stderr } = await run('openssl', args);
  return stdout + stderr;
}

/** A request of an own key, which is written to a file. */
export async function makeCsr(options: {
  readonly name: string;
  readonly keyFile: string;
}): Promise<string> {
  const { name, keyFile } = options;
  const { stdout } = await run('openssl', [
    ...['req', '-new', '-newkey', 'ec', '-pkeyopt'],
    ...['ec_paramgen_curve:P-256', '-noenc', '-subj', `/CN=${name}`],
    ...['-keyout', keyFile],
  ]);
  return stdout;
}
