import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from './PostgresServer';
import { PACKAGE_FOLDER } from './realmFiles';
import { freePorts } from './Server';
import { startRealm } from './startRealm';
import { copyTemplate } from './template';

jest.setTimeout(600_000);

/** Compiles TypeScript for Node, as Backstage's commands do. */
const LOADER = require.resolve('@backstage/cli-node/config/nodeTransform.cjs');

/** Returns the processes with this folder in their environment. */
async function processesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter(name => /^\d/.test(name))) {
    const file = join('/proc', pid, 'environ');
    const environment = await readFile(file, 'utf8').catch(() => '');
    if (environment.includes(folder)) {
      found.push(pid);
    }
  }
  return found;
}

/** Waits until no file, process or semaphore of a folder remains. */
async function isGone(folder: string): Promise<void> {
  const semaphore = `/dev/shm/sem.slapd-${basename(folder)}.stats`;
  while (
    existsSync(folder) ||
    existsSync(semaphore) ||
    (await processesOf(folder)).length > 0
  ) {
    await sleep(50);
  }
}

/** Runs the command of the package, until it has printed a realm's folder. */
async function command(
  ...args: string[]
): Promise<{ child: ChildProcess; folder: string }> {
  const child = spawn(join(PACKAGE_FOLDER, 'bin/realm'), args, {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    const [, config] = /KRB5_CONFIG='(.*)'$/m.exec(output) ?? [];
    if (config) {
      return { child, folder: dirname(config) };
    }
  }
  throw new Error(`realm ${args.join(' ')} has printed: ${output}`);
}

const print = `echo "KRB5_CONFIG='$KRB5_CONFIG'"`;

describe('a realm', () => {
  it('removes processes and files in stop(), also when called twice', async () => {
    const [realm, other] = await Promise.all([startRealm(), startRealm()]);
    expect(realm.ldapUrl).not.toBe(other.ldapUrl);
    expect(await processesOf(realm.dir)).toHaveLength(2);
    await Promise.all([realm.stop(), realm.stop()]);
    expect(existsSync(realm.dir)).toBe(false);
    expect(await processesOf(realm.dir)).toEqual([]);
    expect(await processesOf(other.dir)).toHaveLength(2);
    await other.stop();
    await isGone(realm.dir);
    await isGone(other.dir);
  });

  it('ends only its servers when its caller is killed, also while one is paused', async () => {
    const { child, folder } = await command('serve');
    const viewer = spawn('tail', ['-f', join(folder, 'krb5.conf')]);
    await once(viewer.stdout, 'data');
    const pid = await readFile(join(folder, 'slapd.pid'), 'utf8');
    process.kill(Number(pid), 'SIGSTOP');
    child.kill('SIGKILL');
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    await isGone(folder);
    expect(viewer.signalCode).toBeNull();
    viewer.kill('SIGKILL');
    await once(viewer, 'exit');
  });

  it('exits with status 0 when realm serve receives a signal', async () => {
    const { child, folder } = await command('serve');
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(existsSync(folder)).toBe(false);
  });

  it('ends with the status of the command of realm run', async () => {
    const script = `${print}; kinit -k -t "$KEYTAB" alice && exit 7`;
    const { child, folder } = await command('run', '--', 'sh', '-c', script);
    expect(await once(child, 'exit')).toEqual([7, null]);
    expect(existsSync(folder)).toBe(false);
  });

  it('ends after realm run has passed a signal to its command', async () => {
    const script = `${print}; exec sleep 1000`;
    const { child, folder } = await command('run', '--', 'sh', '-c', script);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([128 + 15, null]);
    expect(existsSync(folder)).toBe(false);
  });
});

it('starts PostgreSQL again after a crash', async () => {
  const server = await PostgresServer.start();
  try {
    const name = await server.createDatabase();
    await server.interrupt();
    await server.resume();
    const database = server.connect(name);
    const { rows } = await database.raw('select current_database() as name');
    expect(rows).toEqual([{ name }]);
    await database.destroy();
  } finally {
    await server.stop();
  }
});

it('returns different ports to concurrent calls', async () => {
  const ports = await Promise.all(
    Array.from({ length: 50 }, () => freePorts(4)),
  );
  expect(new Set(ports.flat()).size).toBe(200);
});

describe('copyTemplate', () => {
  let scratch: string;
  let cache: string;
  let builds: number;

  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'template-'));
    cache = join(scratch, 'cache');
    builds = 0;
  });

  afterEach(() => rm(scratch, { recursive: true }));

  const copyTo = async (name: string, build = writeContent) => {
    const target = join(scratch, name);
    await copyTemplate({ target, content: { name: 'x' }, build, cache });
    return readFile(join(target, 'content'), 'utf8');
  };

  async function writeContent(folder: string): Promise<void> {
    builds += 1;
    await writeFile(join(folder, 'content'), `build ${builds}`);
  }

  it('builds once for concurrent calls, and again after a failure', async () => {
    const fail = async () => {
      throw new Error('no disk');
    };
    await expect(copyTo('a', fail)).rejects.toThrow('no disk');
    const names = ['a', 'b', 'c', 'd'];
    const copies = await Promise.all(names.map(name => copyTo(name)));
    expect(copies).toEqual(Array(4).fill('build 1'));
  });

  it('builds after another builder was killed', async () => {
    const script = `
      const { copyTemplate } = require('${join(PACKAGE_FOLDER, 'src/template')}');
      const build = () => new Promise(() => console.log('building'));
      copyTemplate({ target: '', content: {}, build, cache: '${cache}' });`;
    const builder = spawn(process.execPath, ['-r', LOADER, '-e', script]);
    await once(builder.stdout, 'data');
    const copy = copyTo('a');
    await sleep(300);
    expect(builds).toBe(0);
    builder.kill('SIGKILL');
    expect(await copy).toBe('build 1');
  });
});
