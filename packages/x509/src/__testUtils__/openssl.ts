import { spawnSync } from 'node:child_process';

/** Runs the `openssl` command and returns its standard output and error. */
export function openssl(
  args: readonly string[],
  options: { input?: Buffer | string } = {},
) {
  const { status, stdout, stderr } = spawnSync('openssl', args, {
    ...options,
    encoding: 'utf8',
  });
  return { ok: status === 0, output: `${stdout}${stderr}` };
}
