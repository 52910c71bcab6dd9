/** @jest-environment node */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseCertificate } from '../details/parseCertificate';
import { exportKey } from '../pem';
import { createPkcs12 } from './createPkcs12';
import { keyTypes, generateCsr } from './generateCsr';
import { parseCsr } from './parseCsr';

const run = promisify(execFile);
const PASSPHRASE = 'a passphrase for "tests"';
let folder: string;

const openssl = async (...args: string[]) => {
  const { stdout, stderr } = await run('openssl', args, { cwd: folder });
  return stdout + stderr;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'key-'));
  await openssl(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt'],
    ...['ec_paramgen_curve:P-256', '-noenc', '-subj', '/CN=Test CA'],
    ...['-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2'],
  );
});

afterAll(() => rm(folder, { recursive: true }));

describe.each(keyTypes)('generateCsr with a key of type %s', type => {
  it('generates a CSR and a PKCS#12 file that OpenSSL and NSS read', async () => {
    const { csr, privateKey } = await generateCsr({ username: 'alice', type });
    await writeFile(join(folder, 'csr.pem'), csr);
    expect(
      await openssl('req', '-in', 'csr.pem', '-verify', '-noout', '-subject'),
    ).toMatch(/^subject=CN ?= ?alice\n[^]*self-signature verify OK/);
    expect(await parseCsr(csr)).toEqual({
      subject: 'CN=alice',
      key: type === 'P-256' ? 'EC P-256' : 'RSA 3072',
      names: [],
      isProven: true,
    });

    await openssl(
      ...['x509', '-req', '-in', 'csr.pem', '-CA', 'ca.pem'],
      ...['-CAkey', 'ca.key', '-out', 'cert.pem', '-days', '1'],
    );
    const certificate = await readFile(join(folder, 'cert.pem'), 'utf8');
    const issuer = await readFile(join(folder, 'ca.pem'), 'utf8');
    const file = await createPkcs12({
      privateKey,
      certificate,
      issuers: [issuer],
      name: 'alice',
      passphrase: PASSPHRASE,
    });
    await writeFile(join(folder, 'key.p12'), Buffer.from(file));

    const opened = [
      'pkcs12',
      '-in',
      'key.p12',
      '-passin',
      `pass:${PASSPHRASE}`,
    ];
    expect(await openssl(...opened, '-info', '-noout')).toMatch(
      /MAC: sha256, Iteration 100000[^]*PBES2, PBKDF2, AES-256-CBC, Iteration 100000, PRF hmacWithSHA256/,
    );
    expect(await openssl(...opened, '-nocerts', '-noenc')).toContain(
      (await exportKey(privateKey)).trim(),
    );
    expect(await openssl(...opened, '-nokeys', '-clcerts')).toContain(
      certificate.trim(),
    );
    await expect(
      openssl('pkcs12', '-in', 'key.p12', '-passin', 'pass:wrong', '-noout'),
    ).rejects.toThrow(/mac verify/i);

    // NSS, the key store of Firefox and Chromium.
    const store = ['-d', `sql:${await mkdtemp(join(folder, 'nss-'))}`];
    await run('certutil', ['-N', ...store, '--empty-password']);
    await run('pk12util', [
      ...['-i', join(folder, 'key.p12'), ...store, '-W', PASSPHRASE],
    ]);
    const { stdout: keys } = await run('certutil', ['-K', ...store]);
    expect(keys).toMatch(/(ec|rsa) +[0-9a-f]{40} +alice\n/);
  });
});

describe('parseCertificate', () => {
  it('returns the fields that the API omits', async () => {
    await openssl(
      ...['req', '-x509', '-newkey', 'rsa:2048', '-noenc', '-days', '2'],
      ...['-subj', '/O=EXAMPLE, Inc/CN=alice', '-keyout', 'x.key'],
      ...['-addext', 'keyUsage=digitalSignature,keyCertSign'],
      ...['-addext', 'extendedKeyUsage=clientAuth,1.2.3.4', '-out', 'x.pem'],
    );
    expect(
      parseCertificate(await readFile(join(folder, 'x.pem'), 'utf8')),
    ).toMatchObject({
      subject: 'CN=alice,O=EXAMPLE\\, Inc',
      isSelfIssued: true,
      key: 'RSA 2048',
      keyUsage: ['digitalSignature', 'keyCertSign'],
    });
  });
});

describe('parseCsr', () => {
  it('returns the requested alternative names', async () => {
    await openssl(
      ...['req', '-new', '-newkey', 'ed25519', '-noenc', '-subj', '/CN=alice'],
      ...['-addext', 'subjectAltName=email:alice@example.test,DNS:a.test'],
      ...['-keyout', 'e.key', '-out', 'e.pem'],
    );
    expect(
      await parseCsr(await readFile(join(folder, 'e.pem'), 'utf8')),
    ).toMatchObject({
      key: 'Ed25519',
      names: ['alice@example.test', 'a.test'],
    });
  });

  it('rejects text that is not a CSR', async () => {
    await expect(parseCsr('nonsense')).rejects.toThrow();
  });
});
