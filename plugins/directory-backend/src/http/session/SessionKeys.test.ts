import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  loadSessionKeys,
  readSessionsConfig,
  type SecretSource,
} from './SessionKeys';

describe('readSessionsConfig', () => {
  const read = (sessions?: JsonObject) =>
    readSessionsConfig(new ConfigReader({ ...(sessions && { sessions }) }));

  it('enables sessions of 15 minutes by default', () => {
    const maxAgeMs = 15 * 60 * 1000;
    expect(read()).toEqual({ maxAgeMs });
    expect(read({ enabled: true })).toEqual({ maxAgeMs });
    expect(read({ enabled: false })).toBeUndefined();
  });

  it('reads secrets and secret files in their order', () => {
    expect(
      read({ keys: [{ secretFile: '/run/key' }, { secret: 'abc' }] })?.secrets,
    ).toEqual([
      {
        kind: 'file',
        path: '/run/key',
        key: 'directory.sessions.keys[0].secretFile',
      },
      {
        kind: 'value',
        value: 'abc',
        key: 'directory.sessions.keys[1].secret',
      },
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
  const secret = (value: string): SecretSource => {
    return { key: 'directory.sessions.keys[0].secret', kind: 'value', value };
  };

  const load = (...values: string[]) => loadSessionKeys(values.map(secret));

  it('derives the same key from base64, hexadecimal and a file', async () => {
    const bytes = randomBytes(32);
    const folder = await mkdtemp(join(tmpdir(), 'session-keys-'));
    const path = join(folder, 'key');
    await writeFile(path, `${bytes.toString('base64')}\n`, { mode: 0o600 });
    const all = [
      await load(bytes.toString('base64')),
      await load(bytes.toString('hex')),
      await load(bytes.toString('hex').toUpperCase()),
      await loadSessionKeys([{ key: 'k', kind: 'file', path }]),
    ];
    await chmod(path, 0o644);
    const key = 'directory.sessions.keys[0].secretFile';
    await expect(
      loadSessionKeys([{ key, kind: 'file', path }]),
    ).rejects.toThrow(`${path} is accessible to other users (mode 0644)`);
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
    const [[id, key]] = await loadSessionKeys(undefined);
    const [[otherId, other]] = await loadSessionKeys(undefined);
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
      ['31 bytes in hex', randomBytes(31).toString('hex'), 'has 31 bytes'],
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
      await expect(
        loadSessionKeys([{ key: 'the.key', kind: 'file', path }]),
      ).rejects.toThrow('the.key cannot be read');
    });
  });
});
