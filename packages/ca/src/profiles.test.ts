import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readCertificateProfiles } from './profiles';

const DAY_MS = 24 * 60 * 60 * 1000;

function read(config: JsonObject) {
  return readCertificateProfiles(new ConfigReader(config), {
    organization: 'EXAMPLE.TEST',
    key: 'ca.profiles',
  });
}

describe('readCertificateProfiles', () => {
  it('returns one profile with default values when no profiles are set', () => {
    expect([...read({}).values()]).toEqual([
      {
        name: 'userCerts',
        organization: 'EXAMPLE.TEST',
        validityMs: 30 * DAY_MS,
        keyUsage: ['digitalSignature'],
        extendedKeyUsage: ['clientAuth'],
        policies: [],
      },
    ]);
  });

  it('reads every key', () => {
    const mail = {
      name: 'mail',
      keyUsage: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: ['emailProtection', '1.3.6.1.5.2.3.4'],
      organization: 'Mail',
      policies: ['1.3.6.1.4.1.99999.1'],
    };
    const profiles = read({
      profiles: [
        { name: 'a', validity: 'P90D' },
        { ...mail, validity: { hours: 12 } },
      ],
    });
    expect(profiles.get('a')).toMatchObject({ validityMs: 90 * DAY_MS });
    expect(profiles.get('mail')).toEqual({ ...mail, validityMs: DAY_MS / 2 });
  });

  it.each<[string, JsonObject[]]>([
    ['must contain profiles', []],
    ['must contain profiles', [{ name: 'a' }, { name: 'a' }]],
    ['.validity', [{ name: 'a', validity: { seconds: 0 } }]],
    ['keyUsage', [{ name: 'a', keyUsage: [] }]],
    ['keyUsage', [{ name: 'a', keyUsage: ['keyCertSign'] }]],
    ['extendedKeyUsage', [{ name: 'a', extendedKeyUsage: [] }]],
    ['extendedKeyUsage', [{ name: 'a', extendedKeyUsage: ['1.2.03'] }]],
    ['extendedKeyUsage', [{ name: 'a', extendedKeyUsage: ['toString'] }]],
    ['policies', [{ name: 'a', policies: ['1.2.x'] }]],
  ])('names the invalid key in its error: %s, %j', (message, profiles) => {
    expect(() => read({ profiles })).toThrow(/^ca\.profiles/);
    expect(() => read({ profiles })).toThrow(message);
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
    expect(() => read({ profiles: [profile] })).toThrow(
      `ca.profiles: extendedKeyUsage must not contain ${purpose}, which is not allowed in user certificates`,
    );
  });
});
