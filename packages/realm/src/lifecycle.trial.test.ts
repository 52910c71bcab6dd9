import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PACKAGE_FOLDER } from './RealmOptions';
import { startRealm } from './startRealm';

jest.setTimeout(600_000);

const COMMAND = join(PACKAGE_FOLDER, 'bin/realm');

/** Processes with this folder in their command line or environment. */
async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async pid => {
      try {
        const texts = await Promise.all(
          ['cmdline', 'environ'].map(name =>
            readFile(join('/proc', pid, name), 'utf8'),
          ),
        );
        return texts.some(text => text.includes(folder)) ? [pid] : [];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}

/** Process IDs of the children of processes. */
async function childrenOf(parents: readonly string[]): Promise<string[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async pid => {
      const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // The state and the parent follow the name in parentheses.
      const [, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return parents.includes(parent) ? [pid] : [];
    }),
  );
  return found.flat();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Waits until no file or process of a realm remains. */
async function isGone(folder: string): Promise<void> {
  while ((await exists(folder)) || (await processesOf(folder)).length > 0) {
    await setTimeout(50);
  }
}

describe('a realm', () => {
  let scratch: string;
  let envFile: string;

  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'lifecycle-'));
    envFile = join(scratch, 'realm.env');
  });

  afterEach(async () => {
    await rm(scratch, { recursive: true });
  });

  /** Starts `realm serve`; returns its process and folder when it is ready. */
  async function serve(): Promise<{ child: ChildProcess; folder: string }> {
    const child = spawn(COMMAND, ['serve', '--env-file', envFile], {
      stdio: 'ignore',
    });
    while (!(await exists(envFile))) {
      expect(child.exitCode).toBeNull();
      await setTimeout(50);
    }
    const text = await readFile(envFile, 'utf8');
    const [, config] = /^export KRB5_CONFIG='(.*)'$/m.exec(text) ?? [];
    return { child, folder: dirname(config) };
  }

  it('removes processes and folders in stop(), also when called twice', async () => {
    const realm = await startRealm();
    expect((await processesOf(realm.dir)).length).toBe(2);
    await Promise.all([realm.stop(), realm.stop()]);
    expect(await processesOf(realm.dir)).toEqual([]);
    expect(await exists(realm.dir)).toBe(false);
    const shared = (await readdir('/dev/shm')).join(' ');
    expect(shared).not.toContain(basename(realm.dir));
    await realm.stop();
    await realm.ended();
    await expect(realm.directory.start()).rejects.toThrow(
      'The realm has stopped',
    );
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'exits with status 0 when realm serve receives %s',
    async signal => {
      const { child, folder } = await serve();
      expect((await processesOf(folder)).length).toBe(2);
      child.kill(signal);
      const [code] = await once(child, 'exit');
      expect(code).toBe(0);
      expect(await processesOf(folder)).toEqual([]);
      expect(await exists(folder)).toBe(false);
      expect(await exists(envFile)).toBe(false);
    },
  );

  it('ends when its caller is killed', async () => {
    const { child, folder } = await serve();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await isGone(folder);
    expect(await exists(folder)).toBe(false);
  });

  it('removes everything when its start is aborted', async () => {
    const cacheDir = join(scratch, 'cache');
    const aborter = new AbortController();
    let working: readonly string[] = [];
    const abortAtWork = async () => {
      while (working.length === 0) {
        await setTimeout(20);
        working = await childrenOf(await childrenOf([`${process.pid}`]));
      }
      aborter.abort();
    };
    const start = startRealm({
      cacheDir,
      signal: aborter.signal,
      onProgress: step => {
        expect(step).not.toMatch(/importing|starting/);
        if (step.includes('directory server')) {
          abortAtWork();
        }
      },
    });
    await expect(start).rejects.toThrow('The realm has stopped');
    expect(working).not.toEqual([]);
    for (const pid of working) {
      expect(await exists(`/proc/${pid}`)).toBe(false);
    }
    expect(await readdir(cacheDir)).toEqual([]);
    expect(await processesOf(scratch)).toEqual([]);
  });

  it('ends when the command of realm run exits', async () => {
    const run = promisify(execFile);
    const script = 'echo "$KRB5_CONFIG"; kinit -k -t "$KEYTAB" alice && exit 7';
    const failure = await run(COMMAND, ['run', '--', 'sh', '-c', script]).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 7 });
    const { stdout } = failure as { stdout: string };
    expect(await exists(dirname(stdout.trim()))).toBe(false);
  });

  it('ends after realm run has passed a signal to its command', async () => {
    const child = spawn(
      COMMAND,
      ['run', '--', 'sh', '-c', 'echo "$KRB5_CONFIG"; exec sleep 1000'],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const [line] = await once(child.stdout, 'data');
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(128 + 15);
    expect(await exists(dirname(String(line).trim()))).toBe(false);
  });
});
