import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readEmbeddedCaConfig } from './config';

const DAY_MS = 24 * 60 * 60 * 1000;

function read(embedded: JsonObject | undefined) {
  return readEmbeddedCaConfig(
    new ConfigReader({ directory: { certificates: { embedded } } }),
  );
}

const minimal = { organization: 'EXAMPLE.TEST', keyFile: '/keys/ca.pem' };

describe('readEmbeddedCaConfig', () => {
  it('is undefined without the block', () => {
    expect(read(undefined)).toBeUndefined();
    expect(readEmbeddedCaConfig(new ConfigReader({}))).toBeUndefined();
  });

  it('has a default for every key except two', () => {
    expect(read(minimal)).toEqual({
      cacn: 'embedded',
      organization: 'EXAMPLE.TEST',
      keyFile: '/keys/ca.pem',
      origin: {
        kind: 'generated',
        commonName: 'Certificate Authority',
        validityMs: expect.any(Number),
      },
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
          },
        ],
      ]),
    });
  });

  it('reads every key', () => {
    const config = read({
      ...minimal,
      passphraseFile: '/keys/passphrase',
      chainFile: '/keys/chain.pem',
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
        },
      ],
    });
    expect(config).toMatchObject({
      cacn: 'people',
      passphraseFile: '/keys/passphrase',
      origin: { kind: 'provided', chainFile: '/keys/chain.pem' },
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
    });
  });

  it.each([
    ['organization', { organization: undefined }],
    ['keyFile', { keyFile: undefined }],
    ['keyFile', { keyFile: 'ca.pem' }],
    ['passphraseFile', { passphraseFile: 'passphrase' }],
    ['chainFile', { chainFile: 'chain.pem' }],
    ['root', { chainFile: '/chain.pem', root: { commonName: 'X' } }],
    ['root.validity', { root: { validity: { days: 0 } } }],
    ['root.validity', { root: { validity: 'forever' } }],
    ['crl.validity', { crl: { validity: { minutes: 59 } } }],
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
