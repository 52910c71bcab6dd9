import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const SOURCE = join(__dirname, 'step-ca/main.go');
const FOLDER = join(__dirname, '../../../../.build/step-ca');

/**
 * Builds step-ca from the Debian packages `golang-go` and
 * `golang-github-smallstep-certificates-dev`, once for each version.
 *
 * @returns the path of the program and the version of step-ca, such as `0.19.0`
 */
export async function buildStepCa(): Promise<{
  readonly program: string;
  readonly version: string;
}> {
  const { stdout } = await run('dpkg-query', [
    '--show',
    '--showformat=${Version}',
    'golang-github-smallstep-certificates-dev',
  ]);
  const source = createHash('sha256').update(await readFile(SOURCE));
  const name = `${stdout}-${source.digest('hex').slice(0, 16)}`;
  const program = join(FOLDER, name);
  if (!existsSync(program)) {
    await mkdir(FOLDER, { recursive: true });
    await run('nice', ['go', 'build', '-o', program, SOURCE], {
      env: {
        ...process.env,
        GOPATH: '/usr/share/gocode',
        GO111MODULE: 'off',
        GOCACHE: join(FOLDER, 'cache'),
      },
    });
  }
  return { program, version: stdout.replace(/-.*$/, '') };
}
