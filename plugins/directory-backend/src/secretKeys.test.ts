import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SecretKeys, type SecretSource } from './secretKeys';

describe('SecretKeys', () => {
  const secret = (value: string): SecretSource => {
    return { key: 'directory.sessions.keys[0].secret', kind: 'value', value };
  };

  const load = (...values: string[]) =>
    SecretKeys.load(values.map(secret), 'test');

  it('derives the same key from base64, hexadecimal and a file', async () => {
    const bytes = randomBytes(32);
    const folder = await mkdtemp(join(tmpdir(), 'session-keys-'));
    const path = join(folder, 'key');
    await writeFile(path, `${bytes.toString('base64')}\n`, { mode: 0o600 });
    const all = [
      await load(bytes.toString('base64')),
      await load(bytes.toString('hex')),
      await load(bytes.toString('hex').toUpperCase()),
      await SecretKeys.load([{ key: 'k', kind: 'file', path }], 'test'),
    ];
    await chmod(path, 0o644);
    const key = 'directory.sessions.keys[0].secretFile';
    await expect(
      SecretKeys.load([{ key, kind: 'file', path }], 'test'),
    ).rejects.toThrow(
      `${key}: ${path} is accessible to other users (mode 0644)`,
    );
    await rm(folder, { recursive: true });
    for (const { current } of all) {
      expect(current.id).toBe(all[0].current.id);
      expect(current.key.equals(all[0].current.key)).toBe(true);
    }
  });

  it('encrypts with the first key and decrypts with all', async () => {
    const [one, two, three] = [32, 33, 64].map(size =>
      randomBytes(size).toString('base64'),
    );
    const keys = await load(one, two);
    const [first, second, other] = [
      await load(one),
      await load(two),
      await load(three),
    ];
    expect(keys.current.id).toBe(first.current.id);
    for (const { current } of [first, second]) {
      expect(keys.find(current.id)?.equals(current.key)).toBe(true);
    }
    expect(keys.find(other.current.id)).toBeUndefined();
    expect(keys.find('')).toBeUndefined();
    expect(keys.find('__proto__')).toBeUndefined();
  });

  it('derives different keys for different purposes', async () => {
    const source = secret(randomBytes(32).toString('hex'));
    const one = await SecretKeys.load([source], 'one');
    const other = await SecretKeys.load([source], 'other');
    expect(one.current.key.equals(other.current.key)).toBe(false);
    expect(one.find(other.current.id)).toBeUndefined();
  });

  it('generates a random key without configuration', () => {
    const [one, other] = [SecretKeys.random('test'), SecretKeys.random('test')];
    expect(one.current.key.equals(other.current.key)).toBe(false);
    expect(one.find(other.current.id)).toBeUndefined();
  });

  it('reveals the secret neither in the id nor in the key', async () => {
    const bytes = randomBytes(64);
    const { current } = await load(bytes.toString('hex'));
    const key = current.key.export();
    for (let at = 0; at + 4 <= bytes.length; at++) {
      const part = bytes.subarray(at, at + 4);
      expect(Buffer.from(current.id, 'base64url').includes(part)).toBe(false);
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
        SecretKeys.load([{ key: 'the.key', kind: 'file', path }], 'test'),
      ).rejects.toThrow('the.key cannot be read');
    });
  });
});
