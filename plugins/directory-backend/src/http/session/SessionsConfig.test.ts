import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readSessionsConfig } from './SessionsConfig';

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
