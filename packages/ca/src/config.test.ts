import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { readServeConfig } from './config';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'directory-ca-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function read(content: unknown) {
  const file = join(folder, 'config.yaml');
  await writeFile(
    file,
    typeof content === 'string' ? content : stringify(content),
  );
  return await readServeConfig(file);
}

const issuer = { chainFile: '/ca/chain.pem', keyFile: '/ca/ca.key' };
const minimal = {
  organization: 'EXAMPLE.TEST',
  issuers: [issuer],
  logFolder: '/var/lib/ca/log',
  socket: '/run/ca/signer.sock',
  publicUrl: 'https://portal.example.test/api/directory/',
};
const pkcs11 = {
  module: '/usr/lib/module.so',
  token: 'ca',
  key: 'intermediate',
  pinFile: '/etc/ca/pin',
};

describe('readServeConfig', () => {
  it('returns defaults for optional keys', async () => {
    await expect(read(minimal)).resolves.toEqual({
      issuers: [
        {
          chainFile: '/ca/chain.pem',
          key: { kind: 'file', path: '/ca/ca.key', passphraseFile: undefined },
        },
      ],
      profiles: new Map([
        [
          'userCerts',
          expect.objectContaining({ organization: 'EXAMPLE.TEST' }),
        ],
      ]),
      logFolder: '/var/lib/ca/log',
      limit: undefined,
      socket: '/run/ca/signer.sock',
      publicUrl: 'https://portal.example.test/api/directory',
    });
  });

  it('reads every key', async () => {
    const config = await read({
      ...minimal,
      issuers: [
        { chainFile: '/ca/new.pem', pkcs11 },
        { ...issuer, passphraseFile: '/etc/ca/passphrase' },
      ],
      profiles: [{ name: 'mail', validity: '90 days' }],
      limit: { certificates: 10, per: { hours: 1 } },
    });
    expect(config.issuers).toEqual([
      { chainFile: '/ca/new.pem', key: { kind: 'pkcs11', place: pkcs11 } },
      {
        chainFile: '/ca/chain.pem',
        key: {
          kind: 'file',
          path: '/ca/ca.key',
          passphraseFile: '/etc/ca/passphrase',
        },
      },
    ]);
    expect([...config.profiles.keys()]).toEqual(['mail']);
    expect(config.limit).toEqual({ certificates: 10, perMs: 3_600_000 });
  });

  it.each<[string, unknown]>([
    ['must be a YAML mapping', '- a'],
    ['must be a YAML mapping', ''],
    ['Nested mappings are not allowed', 'a: b: c'],
    ['organisation is not a known key', { ...minimal, organisation: 'x' }],
    ["'organization'", { ...minimal, organization: undefined }],
    ["'issuers'", { ...minimal, issuers: undefined }],
    ['issuers must not be empty', { ...minimal, issuers: [] }],
    [
      'issuers[0].key is not a known key',
      { ...minimal, issuers: [{ ...issuer, key: 'x' }] },
    ],
    ["'issuers[0].keyFile'", { ...minimal, issuers: [{ chainFile: '/a' }] }],
    [
      'issuers[0].chainFile must be an absolute path',
      { ...minimal, issuers: [{ ...issuer, chainFile: 'a' }] },
    ],
    [
      'issuers[0].keyFile must not be set with pkcs11',
      { ...minimal, issuers: [{ ...issuer, pkcs11 }] },
    ],
    [
      "'issuers[0].pkcs11.pinFile'",
      {
        ...minimal,
        issuers: [
          { chainFile: '/a', pkcs11: { ...pkcs11, pinFile: undefined } },
        ],
      },
    ],
    [
      'issuers[0].pkcs11.pin is not a known key',
      {
        ...minimal,
        issuers: [{ chainFile: '/a', pkcs11: { ...pkcs11, pin: '1' } }],
      },
    ],
    [
      'profiles[0].days is not a known key',
      { ...minimal, profiles: [{ name: 'a', days: 1 }] },
    ],
    ["'profiles[0].name'", { ...minimal, profiles: [{}] }],
    ['logFolder must be an absolute path', { ...minimal, logFolder: 'log' }],
    ['socket must be an absolute path', { ...minimal, socket: 'sock' }],
    ['publicUrl must be an http', { ...minimal, publicUrl: 'ldap://x' }],
    [
      'limit.certificates must be a whole number',
      { ...minimal, limit: { certificates: 0 } },
    ],
    ['limit.per: ', { ...minimal, limit: { certificates: 1, per: 'soon' } }],
  ])('rejects a configuration: %s', async (message, content) => {
    const error = await read(content).catch(String);
    expect(error).toContain(`${join(folder, 'config.yaml')}: `);
    expect(error).toContain(message);
  });
});
