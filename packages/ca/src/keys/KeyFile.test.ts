import { createPublicKey, verify } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signingKeyOf } from '@directory-gateway/x509';
import { newKey } from '../__testUtils__/TestCa';
import { SignerUnavailableError } from '../CertificateSigner';
import { KeyFile, generateKeyFile } from './KeyFile';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ca-test-'));
  path = join(folder, 'ca.key');
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const data = Buffer.from('to be signed');

describe('KeyFile', () => {
  it('reads the file once it exists, and then signs without it', async () => {
    const generated = await generateKeyFile({ path, type: 'P-256' });
    const key = new KeyFile({ path, spki: generated.spki });
    await rm(path);
    await expect(key.sign(data, 'sha256')).rejects.toThrow(
      `${path} does not exist`,
    );
    const privateKey = newKey();
    const other = new KeyFile({ path, spki: signingKeyOf(privateKey).spki });
    await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
    });
    await expect(key.sign(data, 'sha256')).rejects.toThrow(
      `${path} is not the key of the CA's certificate`,
    );
    const signature = await other.sign(data, 'sha256');
    expect(verify('sha256', data, createPublicKey(privateKey), signature)).toBe(
      true,
    );
    await rm(path);
    await other.sign(data, 'sha256');
  });

  it.each<[string, () => Promise<void>]>([
    ['is accessible to other users', () => chmod(path, 0o640)],
    ['is not a PEM private key', () => writeFile(path, 'x')],
    ['the passphrase is wrong', () => writeFile(join(folder, 'pass'), 'wrong')],
    ['pass is empty', () => writeFile(join(folder, 'pass'), '\n')],
    ['pass does not exist', () => rm(join(folder, 'pass'))],
  ])(
    'is unavailable when a file is not usable: %s',
    async (message, damage) => {
      const passphraseFile = join(folder, 'pass');
      await writeFile(passphraseFile, 'secret\n', { mode: 0o600 });
      const options = { path, passphraseFile };
      const { spki } = await generateKeyFile({ ...options, type: 'P-384' });
      await new KeyFile({ ...options, spki }).sign(data, 'sha384');
      await damage();
      const signed = new KeyFile({ ...options, spki }).sign(data, 'sha384');
      await expect(signed).rejects.toThrow(SignerUnavailableError);
      await expect(signed).rejects.toThrow(message);
    },
  );
});
