import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { findIgnoredSettings, readDirectoryConfig } from './config';

function read({ ldap, ...directory }: JsonObject) {
  return readDirectoryConfig(
    new ConfigReader({
      directory: {
        ...directory,
        ldap: {
          servers: ['ldaps://ipa.example.test'],
          baseDn: 'dc=example,dc=test',
          bindDn: 'uid=portal',
          bindPassword: 'secret',
          ...(ldap as JsonObject),
        },
      },
    }),
  );
}

describe('readDirectoryConfig', () => {
  it('has defaults for everything but the directory server', () => {
    expect(read({})).toMatchObject({
      ldap: { decisionTimeoutMs: 1000, operationTimeoutMs: 5000 },
      replica: { maxStalenessMs: 60_000, maxShrinkage: 0.2 },
    });
  });

  it('rejects remote directory servers without TLS', () => {
    expect(() =>
      read({ ldap: { servers: ['ldap://ipa.example.test'] } }),
    ).toThrow(
      'directory.ldap.servers contains ldap://ipa.example.test without TLS',
    );
  });

  it('rejects credentials in the URL of a server, and does not print them', () => {
    const servers = ['ldaps://portal:hunter2@ipa.example.test'];
    expect(() => read({ ldap: { servers } })).toThrow(
      /^directory\.ldap\.servers must not contain user names or passwords: (?!.*hunter2)/,
    );
  });

  it.each<[string, string, JsonObject]>([
    ['reads', 'directory.replica', { reads: 'direct' }],
    ['reads', 'directory.replica', { reads: 'replica' }],
    ['ldap.keptRecords', 'directory.replica', { ldap: { keptRecords: 0 } }],
    [
      'certificates.defaultProfile',
      'directory.certificates.profiles',
      { certificates: { authority: 'ca', defaultProfile: 'userCerts' } },
    ],
    [
      'certificates.limit.per',
      'directory.certificates.limit.requests',
      { certificates: { authority: 'ca', limit: { per: '1 hour' } } },
    ],
    [
      'certificates.accountHolds.revokeDeletedAfter',
      '7 days',
      { certificates: { accountHolds: { revokeDeletedAfter: '1 hour' } } },
    ],
    [
      'certificates.embedded.limit',
      'directory.certificates.limit.requests',
      { certificates: { embedded: { limit: { requests: 10 } } } },
    ],
    [
      'ldap.srv.domain',
      'directory.ldap.servers',
      { ldap: { srv: { domain: 'dc.example.test' } } },
    ],
    ['ownership.maxGroups', '200 groups', { ownership: { maxGroups: 0 } }],
    ['sessions.maxAge', '15 minutes', { sessions: { maxAge: '1 minute' } }],
  ])('rejects the removed key %s and names %s', (key, replacement, config) => {
    expect(() => read(config)).toThrow(
      new RegExp(`^directory.${key} is no longer supported.*${replacement}`),
    );
  });

  it('accepts settings of earlier versions that have no effect, and names them', () => {
    const settings = {
      access: [
        {
          principals: ['alice'],
          operations: ['directory.read', 'directory.history.locks.read'],
        },
      ],
      changes: { keys: [{ secretFile: '/etc/portal/changes-key' }] },
      ldap: { pipelining: 4 },
      pages: { dayStrip: 'off' },
    };
    const [rule] = read(settings).access!;
    expect([...rule.operations]).toEqual(['directory.read']);
    const root = new ConfigReader({
      directory: settings,
      kerberos: { maxTokenBytes: 12_000 },
    });
    expect(findIgnoredSettings(root)).toEqual([
      'directory.changes.keys has no effect. Remove the key.',
      'directory.ldap.pipelining has no effect. Remove the key.',
      'directory.pages.dayStrip has no effect. Remove the key.',
      'kerberos.maxTokenBytes has no effect. Remove the key.',
      'directory.access: "directory.history.locks.read" has no effect. Remove it.',
    ]);
  });
});
