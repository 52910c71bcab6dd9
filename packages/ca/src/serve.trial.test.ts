import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { signingKeyOf, writePem } from '@directory-gateway/x509';
import { stringify } from 'yaml';
import {
  PUBLIC_URL,
  TestCa,
  createIssuer,
  newKey,
} from './__testUtils__/TestCa';
import {
  type SignCertificateRequest,
  SignerUnavailableError,
} from './CertificateSigner';
import { serve } from './serve';
import { SocketSigner } from './socket/SocketSigner';

const execute = promisify(execFile);
const BIN = join(__dirname, '../bin/directory-ca');

let ca: TestCa;
let folder: string;
let socket: string;
let configFile: string;
let client: SocketSigner;
const started = new Set<ChildProcess>();

beforeAll(async () => {
  const key = newKey();
  ca = await TestCa.create(await createIssuer({ key: signingKeyOf(key) }));
  // Private, as mkdtemp creates it.
  folder = await mkdtemp(join(tmpdir(), 'directory-ca-'));
  socket = join(folder, 'signer.sock');
  configFile = join(folder, 'config.yaml');
  const [chainFile, keyFile] = [join(folder, 'ca.pem'), join(folder, 'ca.key')];
  const pem = ca.issuer.chain.map(der => writePem('CERTIFICATE', der));
  await writeFile(chainFile, pem.join(''));
  await writeFile(keyFile, key.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  const config = {
    organization: 'EXAMPLE.TEST',
    issuers: [{ chainFile, keyFile }],
    logFolder: ca.folder,
    socket,
    publicUrl: PUBLIC_URL,
  };
  await writeFile(configFile, stringify(config));
  client = new SocketSigner({ path: socket });
});

afterEach(async () => {
  await Promise.all([...started].map(child => end(child, 'SIGKILL')));
});

afterAll(async () => {
  await client.close();
  await rm(folder, { recursive: true });
  await ca.remove();
});

/** Starts the command, and waits until it listens or has ended. */
async function start(
  options: {
    readonly config?: string;
    readonly env?: NodeJS.ProcessEnv;
  } = {},
): Promise<{
  readonly child: ChildProcess;
  readonly lines: readonly string[];
}> {
  const child = spawn(
    process.execPath,
    [BIN, 'serve', '--config', options.config ?? configFile, '--allow-root'],
    { stdio: ['ignore', 'inherit', 'pipe'], env: options.env },
  );
  started.add(child);
  child.once('exit', () => started.delete(child));
  const lines = new Array<string>();
  await new Promise<void>(resolve => {
    createInterface({ input: child.stderr! })
      .on('line', line => {
        lines.push(line);
        if (line.includes('listening')) {
          resolve();
        }
      })
      .on('close', resolve);
  });
  return { child, lines };
}

/** @returns the exit code, or the signal */
async function end(
  child: ChildProcess,
  signal: NodeJS.Signals,
): Promise<unknown> {
  const exited = once(child, 'close');
  child.kill(signal);
  const [code, killedBy] = await exited;
  return code ?? killedBy;
}

async function createRequests(
  count: number,
): Promise<SignCertificateRequest[]> {
  return await Promise.all(Array.from({ length: count }, () => ca.request()));
}

/** Returns the certificate, or `undefined` when the signer is not available. */
async function trySign(
  request: SignCertificateRequest,
): Promise<Buffer | undefined> {
  try {
    return await client.signCertificate(request);
  } catch (error) {
    expect(error).toBeInstanceOf(SignerUnavailableError);
    return undefined;
  }
}

describe('directory-ca serve', () => {
  it('returns the same certificates after it was killed during requests', async () => {
    const requests = await createRequests(60);
    const returned = new Map<bigint, Buffer>();
    for (let kill = 0; kill < 2; kill += 1) {
      const { child } = await start();
      let isKilled: Promise<unknown> | undefined;
      await Promise.all(
        requests.map(async request => {
          const certificate = await trySign(request);
          if (!certificate) {
            return;
          }
          const before = returned.get(request.serialNumber) ?? certificate;
          expect(certificate).toEqual(before);
          returned.set(request.serialNumber, certificate);
          if (returned.size >= 10 * (kill + 1)) {
            isKilled ??= end(child, 'SIGKILL');
          }
        }),
      );
      expect(await isKilled).toBe('SIGKILL');
    }
    expect(returned.size).toBeGreaterThanOrEqual(20);

    const { child } = await start();
    for (const request of requests) {
      const certificate = await client.signCertificate(request);
      expect(returned.get(request.serialNumber) ?? certificate).toEqual(
        certificate,
      );
    }
    const logged = new Array<bigint>();
    for await (const { serialNumber } of client.loggedCertificates()) {
      logged.push(serialNumber);
    }
    expect(new Set(logged)).toEqual(
      new Set(requests.map(request => request.serialNumber)),
    );
    expect(logged).toHaveLength(requests.length);
    await expect(end(child, 'SIGTERM')).resolves.toBe(0);

    const { stdout } = await execute(BIN, ['verify-log', ca.folder]);
    expect(stdout).toContain(`certificates: ${requests.length})`);
  });

  it('finishes the requests in flight at SIGTERM', async () => {
    const { child, lines } = await start();
    expect(lines[0]).toMatch(
      /^directory-ca: the issuance log ends with \d{8}T\S+\.jsonl, line \d+, SHA-256 [0-9a-f]{64}$/,
    );
    await client.describe();
    const requests = await createRequests(20);
    const inFlight = Promise.all(requests.map(trySign));
    await client.signCertificate(requests[0]);
    await expect(end(child, 'SIGTERM')).resolves.toBe(0);
    const certificates = await inFlight;
    expect(certificates[0]).toBeInstanceOf(Buffer);
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(
        /^directory-ca: connection \d+: closed; requests: \d+ served, 0 refused, 0 unavailable$/,
      ),
      'directory-ca: stopped',
    ]);
    await expect(client.describe()).rejects.toThrow(SignerUnavailableError);
  });

  it('does not replace another process, and does not read keys that other users can read', async () => {
    await start();
    const second = await start();
    expect(second.lines.slice(1)).toEqual([
      `directory-ca serve: Another process listens on ${socket}`,
    ]);
    await client.describe();
    const key = join(folder, 'ca.key');
    await chmod(key, 0o640);
    const third = await start();
    expect(third.lines).toEqual([
      expect.stringContaining(`${key} is accessible to other users`),
    ]);
    await chmod(key, 0o600);
  });

  it('does not run as root without --allow-root', async () => {
    jest.spyOn(process, 'getuid').mockReturnValue(0);
    const refused = serve({ configFile, allowRoot: false });
    await expect(refused).rejects.toThrow('must not run as root');
    jest.restoreAllMocks();
  });

  it('is unavailable while its PKCS#11 token is removed, and signs again afterwards', async () => {
    const tokens = join(folder, 'tokens');
    await mkdir(tokens);
    const conf = join(folder, 'softhsm2.conf');
    await writeFile(conf, `directories.tokendir = ${tokens}\n`);
    const env = { ...process.env, SOFTHSM2_CONF: conf };
    await execute(
      'softhsm2-util',
      [
        ...['--init-token', '--free', '--label', 'ca'],
        ...['--pin', '1234', '--so-pin', '5678'],
      ],
      { env },
    );
    const pinFile = join(folder, 'pin');
    await writeFile(pinFile, '1234', { mode: 0o600 });
    const place = {
      module: '/usr/lib/softhsm/libsofthsm2.so',
      token: 'ca',
      key: 'intermediate',
      pinFile,
    };
    const root = join(folder, 'root');
    const name = ['--folder', root, '--organization', 'EXAMPLE.TEST'];
    await execute(BIN, ['create-root', ...name]);
    await execute(
      BIN,
      [
        ...['create-intermediate', ...name],
        ...['--pkcs11-module', place.module, '--pkcs11-token', place.token],
        ...['--pkcs11-key', place.key, '--pkcs11-pin-file', pinFile],
      ],
      { env },
    );
    const tokenConfig = join(folder, 'token.yaml');
    const chainFile = join(root, 'intermediate.pem');
    const logFolder = join(folder, 'token-log');
    await mkdir(logFolder, { mode: 0o700 });
    await writeFile(
      tokenConfig,
      stringify({
        organization: 'EXAMPLE.TEST',
        issuers: [{ chainFile, pkcs11: place }],
        logFolder,
        socket,
        publicUrl: PUBLIC_URL,
      }),
    );

    // The command starts without the token.
    await rename(tokens, `${tokens}.removed`);
    const { child, lines } = await start({ config: tokenConfig, env });
    const { issuers } = await client.describe();
    const { id: issuerId, chain } = issuers[0];
    // The CA is a few seconds old.
    const notBefore = new Date(new X509Certificate(chain[0]).validFrom);
    const certificates = new Array<Buffer>();
    for (let time = 0; time < 2; time += 1) {
      const request = await ca.request({ issuerId, notBefore });
      await expect(client.signCertificate(request)).rejects.toThrow(
        SignerUnavailableError,
      );
      await expect(client.describe()).resolves.toEqual({ issuers });
      await rename(`${tokens}.removed`, tokens);
      let certificate: Buffer | undefined;
      while (!certificate) {
        // The token is not tried again for a second after a failure.
        certificate = await trySign(request);
      }
      certificates.push(certificate);
      await rename(tokens, `${tokens}.removed`);
    }
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^directory-ca: not available: PKCS#11 token "ca" failed; caused by /,
      ),
    );
    await expect(end(child, 'SIGTERM')).resolves.toBe(0);

    for (const certificate of certificates) {
      const file = join(folder, 'certificate.pem');
      await writeFile(file, writePem('CERTIFICATE', certificate));
      const { stdout } = await execute('openssl', [
        ...['verify', '-x509_strict', '-CAfile', join(root, 'root.pem')],
        ...['-untrusted', chainFile, file],
      ]);
      expect(stdout).toBe(`${file}: OK\n`);
    }
  });
});
