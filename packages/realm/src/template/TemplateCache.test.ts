import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessOwner } from '../processes/ProcessOwner';
import { TemplateCache } from './TemplateCache';

describe('TemplateCache', () => {
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

  async function copyTo(name: string, key = 'key'): Promise<string> {
    const target = join(scratch, name);
    const cache = new TemplateCache({
      folder: cacheDir,
      owner: new ProcessOwner(),
    });
    await cache.copyTo(target, key, build);
    return readFile(join(target, 'content'), 'utf8');
  }

  it('builds once for many who ask at the same time, and leaves no lock', async () => {
    const copies = await Promise.all(
      ['a', 'b', 'c', 'd'].map(name => copyTo(name)),
    );
    expect(copies).toEqual(Array(4).fill('build 1'));
    expect(await readdir(cacheDir)).toEqual(['key']);
  });

  it('builds again after a build that failed', async () => {
    const cache = new TemplateCache({
      folder: cacheDir,
      owner: new ProcessOwner(),
    });
    const failing = cache.copyTo(join(scratch, 'a'), 'key', async () => {
      throw new Error('no disk');
    });
    await expect(failing).rejects.toThrow('no disk');
    expect(await copyTo('b')).toBe('build 1');
  });

  it('takes over the lock of a process that has died', async () => {
    await mkdir(cacheDir);
    await writeFile(join(cacheDir, 'key.lock'), '2147483647');
    expect(await copyTo('a')).toBe('build 1');
  });

  it('stops waiting for a process that goes on, when told to', async () => {
    await mkdir(cacheDir);
    await writeFile(join(cacheDir, 'key.lock'), String(process.ppid));
    const cache = new TemplateCache({
      folder: cacheDir,
      owner: new ProcessOwner(),
      signal: AbortSignal.timeout(300),
    });
    const waiting = cache.copyTo(join(scratch, 'a'), 'key', build);
    await expect(waiting).rejects.toThrow(/abort/i);
    expect(builds).toBe(0);
  });

  it('drops what has long not been used', async () => {
    for (let index = 0; index < 8; index += 1) {
      const key = `key-${index}`;
      await copyTo(key, key);
      await utimes(join(cacheDir, key), index, index);
    }
    await copyTo('new', 'new');
    const kept = (await readdir(cacheDir)).sort();
    expect(kept).toHaveLength(8);
    expect(kept).not.toContain('key-0');
  });
});
