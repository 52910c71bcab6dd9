import { ConfigReader } from '@backstage/config';
import {
  readAbsolutePath,
  readCount,
  readMilliseconds,
  requireSecureTransport,
} from './config';

describe('readMilliseconds', () => {
  const read = (value?: string | { readonly seconds: number }) =>
    readMilliseconds(new ConfigReader({ timeout: value }), 'timeout', {
      prefix: 'directory.test',
      fallback: { minutes: 1 },
    });

  it('reads durations', () => {
    expect(read('2s')).toBe(2000);
    expect(read('PT3M')).toBe(180_000);
    expect(read({ seconds: 5 })).toBe(5000);
  });

  it('returns the fallback when the key is not set', () => {
    expect(read()).toBe(60_000);
    expect(
      readMilliseconds(undefined, 'timeout', {
        prefix: 'directory.test',
        fallback: { seconds: 1 },
      }),
    ).toBe(1000);
  });

  it.each(['0s', '-PT1S', 'soon', '5', { seconds: 0 }])(
    'rejects %j and names the key',
    value => {
      expect(() => read(value)).toThrow(/^directory\.test\.timeout: /);
    },
  );
});

describe('readCount', () => {
  const read = (count?: number) =>
    readCount(new ConfigReader(count === undefined ? {} : { count }), 'count', {
      prefix: 'directory.test',
      fallback: 7,
    });

  it('reads whole numbers and returns the fallback when the key is not set', () => {
    expect(read(1)).toBe(1);
    expect(read()).toBe(7);
  });

  it.each([0, -1, 1.5])('rejects %p and names the key', count => {
    expect(() => read(count)).toThrow('directory.test.count must be');
  });
});

describe('requireSecureTransport', () => {
  it.each([
    'https://portal.example.org/api/auth',
    'http://localhost:7007/api/auth',
    'http://127.0.0.1:7007',
    'http://[::1]:7007',
  ])('accepts %s', url => {
    expect(() => requireSecureTransport(url, 'backend.baseUrl')).not.toThrow();
  });

  it.each([
    'http://portal.example.org/api/auth',
    'http://localhost.example.org',
    'http://127.0.0.1.example.org',
    'ftp://localhost',
  ])('rejects %s and names the key', url => {
    expect(() => requireSecureTransport(url, 'backend.baseUrl')).toThrow(
      /^backend\.baseUrl must be/,
    );
  });
});

describe('readAbsolutePath', () => {
  const read = (path?: string) =>
    readAbsolutePath(new ConfigReader({ path }), 'path', 'directory.test');

  it('reads absolute paths', () => {
    expect(read('/etc/ipa/ca.crt')).toBe('/etc/ipa/ca.crt');
    expect(read()).toBeUndefined();
  });

  it('rejects a relative path and names the key', () => {
    expect(() => read('ca.crt')).toThrow(
      'directory.test.path must be an absolute path, not "ca.crt"',
    );
  });
});
