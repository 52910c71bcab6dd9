import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { createPublicKey, verify } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TokenCall, TokenResult } from '../__testUtils__/tokenHost';
import { Pkcs11Key, type Pkcs11KeyPlace } from './Pkcs11Key';

const data = Buffer.from('to be signed');

let folder: string;
let tokens: string;
let place: Pkcs11KeyPlace;
/** SoftHSM reads the environment of its process, which Jest's tests cannot set. */
let host: ChildProcess;
let lastId = 0;

async function call(request: TokenCall): Promise<Buffer> {
  lastId += 1;
  const id = lastId;
  return await new Promise((resolve, reject) => {
    const receive = (result: TokenResult) => {
      if (result.id === id) {
        host.off('message', receive);
        if (result.value) {
          resolve(Buffer.from(result.value));
        } else {
          reject(new Error(result.error));
        }
      }
    };
    host.on('message', receive);
    host.send({ id, call: request });
  });
}

async function generate(
  changes: Partial<Pkcs11KeyPlace> = {},
  type: 'P-256' | 'P-384' | 'P-521' | 'rsa-3072' = 'P-256',
): Promise<Buffer> {
  return await call({
    kind: 'generate',
    place: { ...place, ...changes },
    type,
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'softhsm-'));
  tokens = join(folder, 'tokens');
  await mkdir(tokens);
  const config = join(folder, 'softhsm2.conf');
  await writeFile(config, `directories.tokendir = ${tokens}\n`);
  const env = { ...process.env, SOFTHSM2_CONF: config };
  for (const label of ['ca', 'other', 'locked']) {
    execFileSync(
      'softhsm2-util',
      [
        ...['--init-token', '--free', '--label', label],
        ...['--pin', '1234', '--so-pin', '5678'],
      ],
      { env },
    );
  }
  const pinFile = join(folder, 'pin');
  await writeFile(pinFile, '1234\n', { mode: 0o600 });
  place = {
    module: '/usr/lib/softhsm/libsofthsm2.so',
    token: 'ca',
    key: 'intermediate',
    pinFile,
  };
  host = fork(require.resolve('../__testUtils__/tokenHost'), {
    env,
    execArgv: [
      '--require',
      require.resolve('@backstage/cli-node/config/nodeTransform.cjs'),
    ],
    // Transfers buffers as buffers.
    serialization: 'advanced',
  });
  host.setMaxListeners(0);
});

afterAll(async () => {
  const exited = once(host, 'exit');
  host.kill();
  await exited;
  await rm(folder, { recursive: true });
});

/** Verifies a signature of `data` with OpenSSL. */
async function verifyWithOpenSsl(options: {
  readonly spki: Buffer;
  readonly signature: Buffer;
  readonly hash: string;
}): Promise<string> {
  const file = (name: string) => join(folder, name);
  await writeFile(file('data'), data);
  await writeFile(file('key'), options.spki);
  await writeFile(file('signature'), options.signature);
  const output = execFileSync('openssl', [
    ...['dgst', `-${options.hash}`, '-verify', file('key')],
    ...['-keyform', 'DER', '-signature', file('signature'), file('data')],
  ]);
  return output.toString();
}

it.each([
  ['P-256', 'sha256'],
  ['P-384', 'sha384'],
  ['P-521', 'sha512'],
  ['rsa-3072', 'sha256'],
] as const)('generates a %s key and signs with it', async (type, hash) => {
  const spki = await generate({ key: type }, type);
  const signature = await call({
    kind: 'sign',
    place: { ...place, key: type },
    spki,
    data,
    hash,
  });
  await expect(verifyWithOpenSsl({ spki, signature, hash })).resolves.toBe(
    'Verified OK\n',
  );
  await expect(generate({ key: type }, type)).rejects.toThrow(
    `the private key "${type}" already exists`,
  );
});

describe('a key in a token', () => {
  let spki: Buffer;

  beforeAll(async () => {
    spki = await generate();
  });

  const sign = (changes: Partial<Pkcs11KeyPlace> = {}) =>
    call({
      kind: 'sign',
      place: { ...place, ...changes },
      spki,
      data,
      hash: 'sha256',
    });

  const verifies = (signature: Buffer) =>
    verify(
      'sha256',
      data,
      createPublicKey({ key: spki, format: 'der', type: 'spki' }),
      signature,
    );

  it('signs many times concurrently, also with several keys', async () => {
    await generate({ token: 'other' });
    const signatures = await Promise.all(
      Array.from({ length: 50 }, async () => {
        await sign({ token: 'other' });
        return await sign();
      }),
    );
    expect(signatures.every(verifies)).toBe(true);
  });

  it('is unavailable while the token is removed, and signs again afterwards', async () => {
    expect(verifies(await sign())).toBe(true);
    for (let time = 0; time < 3; time += 1) {
      await rename(tokens, `${tokens}.removed`);
      await expect(sign()).rejects.toThrow(
        'SignerUnavailableError: PKCS#11 token "ca" failed',
      );
      await rename(`${tokens}.removed`, tokens);
      let signature: Buffer | undefined;
      while (!signature) {
        // The token is not tried again for a second after a failure.
        signature = await sign().catch(() => undefined);
      }
      expect(verifies(signature)).toBe(true);
    }
  });

  it.each<[string, Partial<Pkcs11KeyPlace>, string]>([
    ['another token', { token: 'x' }, 'the token is not inserted'],
    ['another key', { key: 'x' }, 'there are 0 private keys "x"'],
    ['another module', { module: '/nonexistent.so' }, '/nonexistent.so'],
    ['another PIN file', { pinFile: '/nonexistent' }, 'does not exist'],
  ])('is unavailable with %s', async (_, changes, message) => {
    const error = await sign(changes).catch(String);
    expect(error).toContain('SignerUnavailableError: ');
    expect(error).toContain(message);
    // The first key is not affected.
    expect(verifies(await sign())).toBe(true);
  });

  it('does not retry a PIN that the token refused', async () => {
    const pinFile = join(folder, 'wrong-pin');
    await writeFile(pinFile, '0000', { mode: 0o600 });
    const attempt = (key: string) =>
      sign({ token: 'locked', pinFile, key }).catch(String);
    await expect(attempt('a')).resolves.toContain('CKR_PIN_INCORRECT');
    // The retry delay of the first key does not apply to another key.
    await expect(attempt('b')).resolves.toContain('is not tried again');
    await writeFile(pinFile, '1234');
    await expect(attempt('c')).resolves.toContain('there are 0 private keys');
  });

  it('is rejected unless it is EC or RSA', () => {
    const ed25519 = Buffer.from(
      '302a300506032b6570032100d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      'hex',
    );
    expect(() => new Pkcs11Key({ ...place, spki: ed25519 })).toThrow(TypeError);
  });
});
