import { generateKeyPairSync } from 'node:crypto';
import {
  copyFile,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash, X509Certificate } from 'node:crypto';
import {
  Issuer,
  readPemBlocks,
  signingKeyOf,
  writePem,
} from '@directory-gateway/x509';
import { createCaCertificate } from '@directory-gateway/x509/testUtils';
import { openssl, readCrl, runProgram } from './__testUtils__/TestCa';

// OpenSSL generates keys, which takes seconds on a busy machine.
jest.setTimeout(120_000);

const DAY_MS = 24 * 60 * 60 * 1000;

describe('embedded-ca', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'embedded-ca-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  const path = (name: string) => join(folder, name);
  const create = (...options: readonly string[]) =>
    runProgram('create', '--folder', folder, ...options);
  const intermediate = (...options: readonly string[]) =>
    runProgram('intermediate', '--folder', folder, ...options);
  const rootCrl = (...options: readonly string[]) =>
    runProgram('root-crl', '--folder', folder, ...options);
  const readRootCrl = async (number: number) => {
    const pem = await readFile(path(`root-crl-${number}.pem`), 'utf8');
    return readCrl(readPemBlocks(pem, { label: 'X509 CRL' })[0]);
  };
  const serialNumberIn = async (name: string) =>
    String(
      BigInt(
        `0x${new X509Certificate(await readFile(path(name))).serialNumber}`,
      ),
    );

  it('prints the SHA-256 of each file, with private keys and encodings as given', async () => {
    const organization = String.raw`EX/AM+P\LE é`;
    for (const [printed, name] of [
      [create('--organization', organization), 'root.pem'],
      [intermediate('--organization', organization), 'intermediate.pem'],
      [rootCrl(), 'root-crl-1.pem'],
    ]) {
      const hash = createHash('sha256').update(await readFile(path(name)));
      expect(printed).toBe(`${hash.digest('hex')}  ${path(name)}\n`);
    }
    for (const name of await readdir(folder)) {
      expect((await stat(path(name))).mode % 0o1000).toBe(0o600);
    }
    const { subject } = new X509Certificate(await readFile(path('root.pem')));
    expect(subject).toMatch(/^O=EX\/AM\\\+P\\\\LE é\nCN=Root CA \w{8}$/);
    expect(
      openssl([
        'verify',
        '-x509_strict',
        '-CAfile',
        path('root.pem'),
        path('intermediate.pem'),
      ]),
    ).toBe(`${path('intermediate.pem')}: OK\n`);
  });

  it('encrypts keys with passphrases', async () => {
    const passphrase = path('root-passphrase');
    await writeFile(passphrase, 'of the root\n');
    await writeFile(path('passphrase'), 'of the intermediate\n');
    create('--organization', 'X', '--passphrase-file', passphrase);
    expect(() => intermediate('--organization', 'X')).toThrow(/not signed/);
    intermediate(
      ...['--organization', 'X', '--root-passphrase-file', passphrase],
      ...['--passphrase-file', path('passphrase')],
    );
    expect(() => rootCrl()).toThrow(/not signed/);
    rootCrl('--root-passphrase-file', passphrase);
    for (const name of ['root.key', 'intermediate.key']) {
      expect(await readFile(path(name), 'utf8')).toMatch(/BEGIN ENCRYPTED/);
    }
    expect(
      openssl([
        'pkey',
        '-in',
        path('intermediate.key'),
        '-noout',
        '-passin',
        `file:${path('passphrase')}`,
      ]),
    ).toBe('');
  });

  it('writes the URLs of the root into intermediates', async () => {
    create('--organization', 'X');
    intermediate(
      '--organization',
      'X',
      '--url',
      'https://p.test/api/directory/',
    );
    const root = new X509Certificate(await readFile(path('root.pem')));
    const spki = root.publicKey.export({ type: 'spki', format: 'der' });
    const id = createHash('sha256').update(spki).digest('hex').slice(0, 16);
    const text = openssl([
      'x509',
      '-in',
      path('intermediate.pem'),
      '-noout',
      '-text',
    ]);
    expect(text).toContain(`URI:https://p.test/api/directory/ca/${id}/crl`);
    expect(text).toContain(
      `CA Issuers - URI:https://p.test/api/directory/ca/${id}/certificate`,
    );
  });

  it('keeps revocations in later CRLs', async () => {
    create('--organization', 'X');
    const names = ['one', 'two', 'three'];
    names.forEach(name =>
      intermediate('--organization', 'X', '--file-name', name),
    );
    rootCrl();
    await copyFile(path('root-crl-1.pem'), path('root-crl-9.pem'));
    rootCrl(
      '--revoke',
      path('one.pem'),
      '--reason',
      'CACompromise',
      '--revoke',
      path('two.pem'),
    );
    rootCrl('--revoke', path('three.pem'), '--reason', 'cessationOfOperation');
    rootCrl('--revoke', path('two.pem'), '--reason', 'superseded');
    const [one, two, three] = await Promise.all(
      names.map(name => serialNumberIn(`${name}.pem`)),
    );
    const { number, entries } = await readRootCrl(12);
    expect(number).toBe(12);
    expect(new Set(entries)).toEqual(
      new Set([
        { serialNumber: one, reason: 'CA Compromise' },
        { serialNumber: three, reason: 'Cessation Of Operation' },
        { serialNumber: two, reason: 'Superseded' },
      ]),
    );
  });

  it('continues the CRLs of a root that 0.2 created', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = signingKeyOf(privateKey);
    const certificate = await createCaCertificate({
      subject: [{ type: 'CN', value: 'Root' }],
      key,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + 3650 * DAY_MS),
    });
    const revoked = [0, 1, 2, 3, 4, 5].map(reason => ({
      serialNumber: 2n ** 100n + BigInt(reason),
      revokedAt: new Date('2026-01-02T03:04:05Z'),
      reason,
    }));
    const crl = await Issuer.create({ certificate, key }).signRevocationList({
      number: 7n,
      thisUpdate: new Date(),
      nextUpdate: new Date(Date.now() + DAY_MS),
      revoked,
    });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writeFile(path('root.key'), pem, { mode: 0o600 });
    await writeFile(path('root.pem'), writePem('CERTIFICATE', certificate));
    await writeFile(path('root-crl-7.pem'), writePem('X509 CRL', crl));
    await writeFile(path('root-crl-7.json'), '{}');
    rootCrl();
    expect(await readRootCrl(8)).toEqual({ ...readCrl(crl), number: 8 });
    const file = path('root-crl-8.pem');
    expect(openssl(['crl', '-in', file, '-noout', '-text'])).toContain(
      'Revocation Date: Jan  2 03:04:05 2026 GMT',
    );
    expect(
      openssl(['crl', '-in', file, '-noout', '-CAfile', path('root.pem')]),
    ).toBe('verify OK\n');
  });

  it.each([
    ['an unknown command', ['sign'], /unknown command sign/],
    [
      'an unknown option',
      ['create', '--color', 'red'],
      /unknown option --color/,
    ],
    ['no folder', ['create', '--organization', 'X'], /--folder is missing/],
    [
      'no organization',
      ['create', '--folder', '.'],
      /--organization is missing/,
    ],
    [
      'an open folder',
      ['create', '--folder', '/tmp', '--organization', 'X'],
      /other users/,
    ],
  ])('refuses %s', (_name, args, message) => {
    expect(() => runProgram(...args)).toThrow(message);
  });

  it('neither overwrites files nor signs beyond the root, nor revokes for others', async () => {
    create('--organization', 'X', '--years', '2');
    expect(() => create('--organization', 'X')).toThrow(
      /will not be overwritten/,
    );
    expect(() => intermediate('--organization', 'X')).toThrow(
      /expires earlier/,
    );
    intermediate('--organization', 'X', '--years', '1');
    expect(() => intermediate('--organization', 'X', '--years', '1')).toThrow(
      /will not be overwritten/,
    );
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const other = await createCaCertificate({
      subject: [{ type: 'CN', value: 'Other' }],
      key: signingKeyOf(privateKey),
      notBefore: new Date(),
      notAfter: new Date(Date.now() + DAY_MS),
    });
    await writeFile(path('other.pem'), writePem('CERTIFICATE', other));
    expect(() => rootCrl('--revoke', path('other.pem'))).toThrow(
      /not signed by the root/,
    );
    expect(await readdir(folder)).not.toContain('root-crl-1.pem');
  });
});
