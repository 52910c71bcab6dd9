import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readEmbeddedCaConfig } from './config';

const DAY_MS = 24 * 60 * 60 * 1000;

function read(embedded: JsonObject | undefined) {
  return readEmbeddedCaConfig(
    new ConfigReader({ directory: { certificates: { embedded } } }),
  );
}

const issuer = { chainFile: '/ca/chain.pem', keyFile: '/ca/ca.key' };

const minimal = {
  organization: 'EXAMPLE.TEST',
  issuers: [issuer],
  logFolder: '/log',
};

describe('readEmbeddedCaConfig', () => {
  it('returns undefined when the block is missing', () => {
    expect(read(undefined)).toBeUndefined();
    expect(readEmbeddedCaConfig(new ConfigReader({}))).toBeUndefined();
  });

  it('returns defaults for all keys except the three required ones', () => {
    expect(read(minimal)).toEqual({
      cacn: 'embedded',
      organization: 'EXAMPLE.TEST',
      signer: {
        kind: 'file',
        issuers: [issuer],
        logFolder: '/log',
        limit: { certificates: 1000, perMs: 60_000 },
      },
      roots: [],
      listValidityMs: 7 * DAY_MS,
      profiles: new Map([
        [
          'userCerts',
          expect.objectContaining({ organization: 'EXAMPLE.TEST' }),
        ],
      ]),
    });
  });

  it('reads every key', () => {
    const config = read({
      ...minimal,
      issuers: [{ ...issuer, passphraseFile: '/ca/passphrase' }, issuer],
      publicUrl: 'http://crl.example.test/portal/api/directory',
      limit: { certificates: 10, per: '1 hour' },
      roots: [{ certificateFile: '/root.pem', crlFile: '/root.crl' }],
      cacn: 'people',
      crl: { validity: { days: 2 } },
      profiles: [{ name: 'mail', validity: { hours: 12 } }],
    });
    expect(config).toMatchObject({
      cacn: 'people',
      signer: {
        kind: 'file',
        issuers: [{ ...issuer, passphraseFile: '/ca/passphrase' }, issuer],
        publicUrl: 'http://crl.example.test/portal/api/directory',
        limit: { certificates: 10, perMs: 60 * 60 * 1000 },
      },
      roots: [{ certificateFile: '/root.pem', crlFile: '/root.crl' }],
      listValidityMs: 2 * DAY_MS,
    });
    expect([...config!.profiles.values()]).toMatchObject([
      { name: 'mail', validityMs: DAY_MS / 2 },
    ]);
  });

  it('reads a socket instead of issuers', () => {
    expect(
      read({ organization: 'EXAMPLE.TEST', socket: '/run/ca.sock' })?.signer,
    ).toEqual({ kind: 'socket', path: '/run/ca.sock' });
  });

  it.each([
    ['organization', { organization: undefined }],
    ['issuers', { issuers: undefined }],
    ['issuers', { issuers: [] }],
    ['issuers[0].keyFile', { issuers: [{ chainFile: '/chain.pem' }] }],
    ['issuers[0].keyFile', { issuers: [{ ...issuer, keyFile: 'ca.key' }] }],
    ['issuers[0].chainFile', { issuers: [{ keyFile: '/ca.key' }] }],
    [
      'issuers[0].passphraseFile',
      { issuers: [{ ...issuer, passphraseFile: 'passphrase' }] },
    ],
    ['logFolder', { logFolder: undefined }],
    ['logFolder', { logFolder: 'log' }],
    ['limit.certificates', { limit: { certificates: 0 } }],
    ['limit.per', { limit: { per: 'soon' } }],
    ['publicUrl', { publicUrl: 'ldap://portal.example.test' }],
    ['publicUrl', { publicUrl: 'http://portal.example.test/' }],
    ['socket', { socket: 'ca.sock' }],
    ['issuers', { socket: '/ca.sock' }],
    ['logFolder', { socket: '/ca.sock', issuers: undefined }],
    ['roots[0].certificateFile', { roots: [{}] }],
    ['roots[0].crlFile', { roots: [{ certificateFile: '/r', crlFile: 'x' }] }],
    ['crl.validity', { crl: { validity: { minutes: 59 } } }],
    ['crl.validity', { crl: { validity: { days: 31 } } }],
    ['profiles', { profiles: [] }],
    ['profiles[0].name', { profiles: [{}] }],
  ])('names the invalid key %s: %j', (key, changes: JsonObject) => {
    const pattern = `directory.certificates.embedded(: .*"${key}"|.${key})`
      .replaceAll('[', String.raw`\[`)
      .replaceAll(']', String.raw`\]`);
    expect(() => read({ ...minimal, ...changes })).toThrow(new RegExp(pattern));
  });
});
