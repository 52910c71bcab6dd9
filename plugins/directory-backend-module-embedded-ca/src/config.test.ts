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

const minimal = { organization: 'EXAMPLE.TEST', issuers: [issuer] };

describe('readEmbeddedCaConfig', () => {
  it('returns undefined when the block is missing', () => {
    expect(read(undefined)).toBeUndefined();
    expect(readEmbeddedCaConfig(new ConfigReader({}))).toBeUndefined();
  });

  it('returns defaults for all keys except the two required ones', () => {
    expect(read(minimal)).toEqual({
      cacn: 'embedded',
      organization: 'EXAMPLE.TEST',
      issuers: [issuer],
      roots: [],
      crlValidityMs: 7 * DAY_MS,
      profiles: new Map([
        [
          'userCerts',
          {
            validityMs: 30 * DAY_MS,
            keyUsage: ['digitalSignature'],
            extendedKeyUsage: ['clientAuth'],
          },
        ],
      ]),
    });
  });

  it('reads every key', () => {
    const withoutKey = { chainFile: '/old.pem', crlFile: '/old.crl' };
    const issuers = [
      { ...issuer, passphraseFile: '/pass' },
      issuer,
      withoutKey,
    ];
    expect(
      read({
        ...minimal,
        issuers,
        publicUrl: 'http://crl.example.test/portal/api/directory',
        roots: [{ certificateFile: '/root.pem', crlFile: '/root.crl' }],
        cacn: 'people',
        crl: { validity: { days: 2 } },
        profiles: [{ name: 'mail', validity: { hours: 12 } }],
      }),
    ).toMatchObject({
      cacn: 'people',
      issuers,
      publicUrl: 'http://crl.example.test/portal/api/directory',
      roots: [{ chainFile: '/root.pem', crlFile: '/root.crl' }],
      crlValidityMs: 2 * DAY_MS,
      profiles: new Map([
        ['mail', expect.objectContaining({ validityMs: DAY_MS / 2 })],
      ]),
    });
  });

  it('refuses the socket of 0.2 with the name of the upgrade page', () => {
    expect(() => read({ organization: 'X', socket: '/ca.sock' })).toThrow(
      /embedded\.socket: .*docs\/certificate-authority\.md, "Upgrade from 0\.2"/,
    );
  });

  it.each([
    ['organization', { organization: undefined }],
    ['issuers', { issuers: undefined }],
    ['issuers', { issuers: [] }],
    ['issuers[0]', { issuers: [{ chainFile: '/chain.pem' }] }],
    ['issuers[0]', { issuers: [{ ...issuer, crlFile: '/x.crl' }] }],
    ['issuers', { issuers: [{ chainFile: '/c.pem', crlFile: '/x.crl' }] }],
    ['issuers[0].keyFile', { issuers: [{ ...issuer, keyFile: 'ca.key' }] }],
    ['issuers[0].chainFile', { issuers: [{ keyFile: '/ca.key' }] }],
    [
      'issuers[0].passphraseFile',
      { issuers: [{ ...issuer, passphraseFile: 'passphrase' }] },
    ],
    ['publicUrl', { publicUrl: 'ldap://portal.example.test' }],
    ['publicUrl', { publicUrl: 'http://portal.example.test/' }],
    ['roots[0].certificateFile', { roots: [{}] }],
    ['roots[0].crlFile', { roots: [{ certificateFile: '/r', crlFile: 'x' }] }],
    ['crl.validity', { crl: { validity: { minutes: 59 } } }],
    ['crl.validity', { crl: { validity: { days: 32 } } }],
    ['profiles', { profiles: [] }],
    ['profiles', { profiles: [{ name: 'a' }, { name: 'a' }] }],
    ['profiles[0].name', { profiles: [{}] }],
    ...[
      { validity: 'soon' },
      { keyUsage: [] },
      { keyUsage: ['keyCertSign'] },
      { extendedKeyUsage: [] },
      { extendedKeyUsage: ['other'] },
      { extendedKeyUsage: ['constructor'] },
      { extendedKeyUsage: ['OCSPSigning'] },
      { extendedKeyUsage: ['1.3.6.1.5.5.7.3.9'] },
      { extendedKeyUsage: ['anyExtendedKeyUsage'] },
      { extendedKeyUsage: ['timeStamping'] },
      { extendedKeyUsage: ['1.3.6.1.5.2.3.5'] },
      { extendedKeyUsage: ['1.3.6.1.4.1.311.20.2.1'] },
      { policies: ['1.2.3'] },
      { organization: 'Mail' },
    ].map(
      changes =>
        ['profiles', { profiles: [{ name: 'a', ...changes }] }] as [
          string,
          JsonObject,
        ],
    ),
  ])('names the invalid key %s: %j', (key, changes: JsonObject) => {
    const pattern = `directory.certificates.embedded(: .*"${key}"|.${key})`
      .replaceAll('[', String.raw`\[`)
      .replaceAll(']', String.raw`\]`);
    expect(() => read({ ...minimal, ...changes })).toThrow(new RegExp(pattern));
  });
});
