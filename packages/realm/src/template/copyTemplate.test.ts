import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessOwner } from '../processes/ProcessOwner';
import { copyTemplate, type CopyOptions } from './copyTemplate';

describe('copyTemplate', () => {
  let scratch: string;
  let cacheDir: string;
  let builds: number;

  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'template-cache-'));
    cacheDir = join(scratch, 'cache');
    builds = 0;
  });

  afterEach(async () => {
    await rm(scratch, { recursive: true });
  });

  async function build(): Promise<string> {
    builds += 1;
    const folder = join(scratch, `built-${builds}`);
    await mkdir(folder);
    await writeFile(join(folder, 'content'), `build ${builds}`);
    return folder;
  }

  async function copyTo(
    name: string,
    options: Partial<CopyOptions> = {},
  ): Promise<string> {
    const target = join(scratch, name);
    const owner = new ProcessOwner();
    await copyTemplate({
      cacheDir,
      key: 'key',
      target,
      owner,
      build,
      ...options,
    });
    return readFile(join(target, 'content'), 'utf8');
  }

  it('builds once for concurrent calls and leaves no lock', async () => {
    const copies = await Promise.all(
      ['a', 'b', 'c', 'd'].map(name => copyTo(name)),
    );
    expect(copies).toEqual(Array(4).fill('build 1'));
    expect(await readdir(cacheDir)).toEqual(['key']);
  });

  it('builds again after a failed build', async () => {
    const failing = copyTo('a', {
      build: async () => {
        throw new Error('no disk');
      },
    });
    await expect(failing).rejects.toThrow('no disk');
    expect(await copyTo('b')).toBe('build 1');
  });

  it('takes over the lock of a process that has exited', async () => {
    await mkdir(cacheDir);
    await symlink('2147483647', join(cacheDir, 'key.lock'));
    expect(await copyTo('a')).toBe('build 1');
  });

  it('replaces an empty lock file', async () => {
    await mkdir(cacheDir);
    await writeFile(join(cacheDir, 'key.lock'), '');
    expect(await copyTo('a', { signal: AbortSignal.timeout(60_000) })).toBe(
      'build 1',
    );
  });

  it('stops waiting for another process when aborted', async () => {
    await mkdir(cacheDir);
    await symlink(String(process.ppid), join(cacheDir, 'key.lock'));
    const waiting = copyTo('a', { signal: AbortSignal.timeout(300) });
    await expect(waiting).rejects.toThrow(/abort/i);
    expect(builds).toBe(0);
  });

  it('removes the least recently used templates', async () => {
    for (let index = 0; index < 8; index += 1) {
      const key = `key-${index}`;
      await copyTo(key, { key });
      await utimes(join(cacheDir, key), index, index);
    }
    await copyTo('new', { key: 'new' });
    const kept = (await readdir(cacheDir)).sort();
    expect(kept).toHaveLength(8);
    expect(kept).not.toContain('key-0');
  });
});
