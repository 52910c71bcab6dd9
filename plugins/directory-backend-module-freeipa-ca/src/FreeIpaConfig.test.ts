import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readFreeIpaConfig } from './FreeIpaConfig';

const caFile = '/etc/ipa/ca.crt';
const login = { principal: 'HTTP/p.test@R.TEST', keytab: '/etc/p.keytab' };

const read = (freeipa: JsonObject) =>
  readFreeIpaConfig(
    new ConfigReader({ directory: { certificates: { freeipa } } }),
  );

describe('readFreeIpaConfig', () => {
  it('returns undefined when the block is missing', () => {
    expect(readFreeIpaConfig(new ConfigReader({}))).toBe(undefined);
  });

  it('returns defaults for optional keys', () => {
    const servers = ['https://ipa1.test', 'https://IPA2.test:8443/'];
    expect(read({ servers, login, caFile })).toEqual({
      servers: ['https://ipa1.test', 'https://ipa2.test:8443'],
      caFile,
      cacn: 'ipa',
      login: {
        kind: 'kerberos',
        account: login.principal,
        file: login.keytab,
        fileKey: 'directory.certificates.freeipa.login.keytab',
      },
      requestTimeoutMs: 30_000,
      lostResponseSearchMs: 10_000,
    });
  });

  it('reads every key', () => {
    expect(
      read({
        servers: ['https://ipa1.test'],
        caFile: '/etc/ipa/ca.crt',
        cacn: 'people',
        login: { username: 'portal', passwordFile: '/etc/password' },
      }),
    ).toMatchObject({
      servers: ['https://ipa1.test'],
      caFile: '/etc/ipa/ca.crt',
      cacn: 'people',
      login: {
        kind: 'password',
        account: 'portal',
        file: '/etc/password',
        fileKey: 'directory.certificates.freeipa.login.passwordFile',
      },
    });
  });

  it.each([
    'http://ipa1.test',
    'http://localhost',
    'ipa1.test',
    'https://ipa1.test/ipa',
    'https://ipa1.test/?x',
    'https://portal:secret@ipa1.test',
  ])('refuses the server %s', server => {
    expect(() => read({ servers: [server], caFile, login })).toThrow(
      'directory.certificates.freeipa.servers',
    );
  });

  it.each<[string, JsonObject]>([
    ['freeipa.servers', { servers: [] }],
    ['freeipa.servers', { servers: ['https://a.test', 'https://A.test/'] }],
    ['freeipa.caFile', { caFile: 'ca.crt' }],
    ['freeipa.caFile is missing', { caFile: undefined }],
    ['freeipa.login.principal', { login: {} }],
    ['freeipa.login.principal', { login: { ...login, username: 'portal' } }],
    ['freeipa.login.keytab', { login: { ...login, keytab: 'p.keytab' } }],
    ['freeipa.login.passwordFile', { login: { username: 'portal' } }],
    [
      'freeipa.login.passwordFile',
      { login: { username: 'portal', passwordFile: 'password' } },
    ],
  ])('names %s when it is invalid', (key, change) => {
    const servers = ['https://ipa1.test'];
    expect(() => read({ servers, caFile, login, ...change })).toThrow(key);
  });
});
