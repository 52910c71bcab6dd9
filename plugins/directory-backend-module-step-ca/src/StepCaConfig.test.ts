import { ConfigReader } from '@backstage/config';
import type { JsonObject } from '@backstage/types';
import { readStepCaConfig } from './StepCaConfig';

const REQUIRED = {
  url: 'https://ca.example.org:9000',
  rootFile: '/etc/portal/step-ca/root.pem',
  provisionerKeyFile: '/etc/portal/step-ca/provisioner.jwk',
};

const read = (stepCa: JsonObject) =>
  readStepCaConfig(
    new ConfigReader({ directory: { certificates: { stepCa } } }),
  );

describe('readStepCaConfig', () => {
  it('has defaults', () => {
    expect(read(REQUIRED)).toEqual({
      ...REQUIRED,
      provisioner: 'directory-gateway',
      profiles: new Map([
        [
          'userCerts',
          {
            validityMs: 7 * 24 * 3_600_000,
            extendedKeyUsage: ['clientAuth'],
          },
        ],
      ]),
      requestTimeoutMs: 10_000,
    });
  });

  it('returns nothing when it is not configured', () => {
    expect(readStepCaConfig(new ConfigReader({}))).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['url', { url: 'http://ca.example.org' }],
    ['url', { url: 'https://ca.example.org/1.0' }],
    ['url', { url: 'https://user@ca.example.org' }],
    ['rootFile', { rootFile: 'root.pem' }],
    ['rootFile', { rootFile: undefined }],
    ['provisionerKeyFile', { provisionerKeyFile: undefined }],
    ['profiles', { profiles: [] }],
    ['profiles', { profiles: [{ name: 'a' }, { name: 'a' }] }],
    ['extendedKeyUsage', { profiles: [{ name: 'a', extendedKeyUsage: [] }] }],
    [
      'extendedKeyUsage',
      { profiles: [{ name: 'a', extendedKeyUsage: ['serverAuth'] }] },
    ],
    ['validity', { profiles: [{ name: 'a', validity: '0 days' }] }],
  ])('names an invalid %s', (key, change) => {
    expect(() => read({ ...REQUIRED, ...change })).toThrow(key);
  });
});
