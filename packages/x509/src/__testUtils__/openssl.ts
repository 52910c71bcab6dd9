import { spawnSync } from 'node:child_process';

/** Runs the `openssl` command and returns its output on both channels. */
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
