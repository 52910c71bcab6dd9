import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSessionKeys, readSessionsConfig } from './SessionKeys';

describe('readSessionsConfig', () => {
  const read = (sessions?: JsonObject) =>
    readSessionsConfig(new ConfigReader({ ...(sessions && { sessions }) }));

  it('enables sessions by default', () => {
    expect(read()).toEqual({});
    expect(read({ enabled: true })).toEqual({});
    expect(read({ enabled: false })).toBeUndefined();
  });

  it('reads secrets and secret files in their order', () => {
    const keys = [{ secretFile: '/run/key' }, { secret: 'abc' }];
    expect(read({ keys })?.secrets).toMatchObject([
      { key: 'directory.sessions.keys[0].secretFile' },
      { key: 'directory.sessions.keys[1].secret' },
    ]);
  });

  it('names the invalid key', () => {
    expect(() => read({ keys: [] })).toThrow(/directory\.sessions\.keys must/);
    expect(() => read({ keys: [{ secret: 'a' }, {}] })).toThrow(
      'Set one of secret and secretFile in directory.sessions.keys[1]',
    );
    expect(() => read({ keys: [{ secret: 'a', secretFile: '/b' }] })).toThrow(
      'Set one of secret and secretFile in directory.sessions.keys[0]',
    );
  });
});

describe('loadSessionKeys', () => {
  const loadAll = async (keys: JsonObject[]) =>
    loadSessionKeys(
      readSessionsConfig(new ConfigReader({ sessions: { keys } }))!,
    );

  const load = (...values: string[]) =>
    loadAll(values.map(secret => ({ secret })));

  it('derives the same key from base64, hexadecimal and a file', async () => {
    const bytes = randomBytes(32);
    const folder = await mkdtemp(join(tmpdir(), 'session-keys-'));
    const path = join(folder, 'key');
    await writeFile(path, `${bytes.toString('base64')}\n`, { mode: 0o600 });
    const all = [
      await load(bytes.toString('base64')),
      await load(bytes.toString('hex')),
      await load(bytes.toString('hex').toUpperCase()),
      await loadAll([{ secretFile: path }]),
    ];
    await chmod(path, 0o644);
    await expect(loadAll([{ secretFile: path }])).rejects.toThrow(
      `${path} is accessible to other users (mode 0644)`,
    );
    await rm(folder, { recursive: true });
    const exported = all.map(keys =>
      Array.from(keys, ([id, keyObject]) => [id, keyObject.export()]),
    );
    expect(exported).toEqual(Array(4).fill(exported[0]));
  });

  it('returns the keys in the order of the secrets', async () => {
    const [one, two] = [32, 64].map(size =>
      randomBytes(size).toString('base64'),
    );
    const ids = async (...secrets: string[]) => [
      ...(await load(...secrets)).keys(),
    ];
    expect(await ids(one, two)).toEqual([
      ...(await ids(one)),
      ...(await ids(two)),
    ]);
  });

  it('creates a random key without configuration', async () => {
    const [[id, key]] = await loadSessionKeys({});
    const [[otherId, other]] = await loadSessionKeys({});
    expect(id).not.toBe(otherId);
    expect(key.equals(other)).toBe(false);
  });

  it('reveals the secret neither in the id nor in the key', async () => {
    const bytes = randomBytes(64);
    const [[id, keyObject]] = await load(bytes.toString('hex'));
    const key = keyObject.export();
    for (let at = 0; at + 4 <= bytes.length; at++) {
      const part = bytes.subarray(at, at + 4);
      expect(Buffer.from(id, 'base64url').includes(part)).toBe(false);
      expect(key.includes(part)).toBe(false);
    }
  });

  describe('rejects, without revealing the secret,', () => {
    it.each([
      ['31 bytes', randomBytes(31).toString('base64'), 'has 31 bytes'],
      ['a password', 'correct horse battery staple', 'base64 or hexadecimal'],
      ['a template', '${DIRECTORY_SESSION_KEY}', 'base64 or hexadecimal'],
      ['nothing', ' \n', 'base64 or hexadecimal'],
    ])('%s', async (_what, value, problem) => {
      const failure = await load(value).catch(String);
      expect(failure).toContain('directory.sessions.keys[0].secret ');
      expect(failure).toContain(problem);
      expect(failure).not.toContain(value);
    });

    it('a repeated secret', async () => {
      const bytes = randomBytes(32);
      await expect(
        load(bytes.toString('base64'), bytes.toString('hex')),
      ).rejects.toThrow(
        'directory.sessions.keys contains the same secret twice',
      );
    });

    it('an unreadable file', async () => {
      const path = join(tmpdir(), 'no', 'such', 'file');
      await expect(loadAll([{ secretFile: path }])).rejects.toThrow(
        'directory.sessions.keys[0].secretFile cannot be read',
      );
    });
  });
});
