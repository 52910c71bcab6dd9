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
  it('is undefined without the block', () => {
    expect(read(undefined)).toBeUndefined();
    expect(readEmbeddedCaConfig(new ConfigReader({}))).toBeUndefined();
  });

  it('has a default for every key except three', () => {
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
          {
            name: 'userCerts',
            organization: 'EXAMPLE.TEST',
            validityMs: 30 * DAY_MS,
            keyUsage: ['digitalSignature'],
            extendedKeyUsage: ['clientAuth'],
            policies: [],
          },
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
      profiles: [
        { name: 'userCerts', validity: 'P90D' },
        {
          name: 'mail',
          validity: { hours: 12 },
          keyUsage: ['digitalSignature', 'keyEncipherment'],
          extendedKeyUsage: ['emailProtection', '1.3.6.1.5.2.3.4'],
          organization: 'Mail',
          policies: ['1.3.6.1.4.1.99999.1'],
        },
      ],
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
    expect(config?.profiles.get('userCerts')).toMatchObject({
      validityMs: 90 * DAY_MS,
      extendedKeyUsage: ['clientAuth'],
    });
    expect(config?.profiles.get('mail')).toEqual({
      name: 'mail',
      organization: 'Mail',
      validityMs: DAY_MS / 2,
      keyUsage: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: ['emailProtection', '1.3.6.1.5.2.3.4'],
      policies: ['1.3.6.1.4.1.99999.1'],
    });
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
    ['profiles', { profiles: [{ name: 'a' }, { name: 'a' }] }],
    ['profiles[0].name', { profiles: [{}] }],
    ['profiles', { profiles: [{ name: 'a', validity: { seconds: 0 } }] }],
    ['profiles', { profiles: [{ name: 'a', keyUsage: [] }] }],
    ['profiles', { profiles: [{ name: 'a', keyUsage: ['keyCertSign'] }] }],
    ['profiles', { profiles: [{ name: 'a', extendedKeyUsage: [] }] }],
    ['profiles', { profiles: [{ name: 'a', extendedKeyUsage: ['x'] }] }],
    ['profiles', { profiles: [{ name: 'a', extendedKeyUsage: ['1.2.03'] }] }],
    ['profiles', { profiles: [{ name: 'a', extendedKeyUsage: ['toString'] }] }],
  ])('names the invalid key %s: %j', (key, changes: JsonObject) => {
    const pattern = `directory.certificates.embedded(: .*"${key}"|.${key})`
      .replaceAll('[', String.raw`\[`)
      .replaceAll(']', String.raw`\]`);
    expect(() => read({ ...minimal, ...changes })).toThrow(new RegExp(pattern));
  });

  it.each([
    ['OCSPSigning'],
    ['1.3.6.1.5.5.7.3.9'],
    ['anyExtendedKeyUsage'],
    ['2.5.29.37.0'],
    ['timeStamping'],
    ['1.3.6.1.5.2.3.5'],
  ])('rejects a profile with the reserved purpose %s', purpose => {
    const profile = { name: 'a', extendedKeyUsage: ['clientAuth', purpose] };
    expect(() => read({ ...minimal, profiles: [profile] })).toThrow(
      `extendedKeyUsage must not contain ${purpose}, which is not for users' certificates`,
    );
  });
});
