import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  type CertificateOrder,
  SignerUnavailableError,
} from './CertificateSigner';
import { SocketSigner } from './socket/SocketSigner';

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
async function serve(): Promise<{
  readonly child: ChildProcess;
  readonly lines: readonly string[];
}> {
  const child = spawn(
    process.execPath,
    [BIN, 'serve', '--config', configFile, '--allow-root'],
    { stdio: ['ignore', 'inherit', 'pipe'] },
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

async function createOrders(count: number): Promise<CertificateOrder[]> {
  return await Promise.all(Array.from({ length: count }, () => ca.order()));
}

/** Returns the certificate, or `undefined` when the signer is not available. */
async function trySign(order: CertificateOrder): Promise<Buffer | undefined> {
  try {
    return await client.signCertificate(order);
  } catch (error) {
    expect(error).toBeInstanceOf(SignerUnavailableError);
    return undefined;
  }
}

describe('directory-ca serve', () => {
  it('returns the same certificates after it was killed during requests', async () => {
    const orders = await createOrders(60);
    const returned = new Map<bigint, Buffer>();
    for (let kill = 0; kill < 2; kill += 1) {
      const { child } = await serve();
      let isKilled: Promise<unknown> | undefined;
      await Promise.all(
        orders.map(async order => {
          const certificate = await trySign(order);
          if (!certificate) {
            return;
          }
          const before = returned.get(order.serialNumber) ?? certificate;
          expect(certificate).toEqual(before);
          returned.set(order.serialNumber, certificate);
          if (returned.size >= 10 * (kill + 1)) {
            isKilled ??= end(child, 'SIGKILL');
          }
        }),
      );
      expect(await isKilled).toBe('SIGKILL');
    }
    expect(returned.size).toBeGreaterThanOrEqual(20);

    const { child } = await serve();
    for (const order of orders) {
      const certificate = await client.signCertificate(order);
      expect(returned.get(order.serialNumber) ?? certificate).toEqual(
        certificate,
      );
    }
    const logged = new Array<bigint>();
    for await (const { serialNumber } of client.loggedCertificates()) {
      logged.push(serialNumber);
    }
    expect(new Set(logged)).toEqual(
      new Set(orders.map(order => order.serialNumber)),
    );
    expect(logged).toHaveLength(orders.length);
    await expect(end(child, 'SIGTERM')).resolves.toBe(0);

    const { stdout } = await promisify(execFile)(process.execPath, [
      BIN,
      'verify-log',
      ca.folder,
    ]);
    expect(stdout).toContain(`${orders.length} certificates in `);
  });

  it('finishes the requests in flight at SIGTERM', async () => {
    const { child, lines } = await serve();
    await client.describe();
    const orders = await createOrders(20);
    const inFlight = Promise.all(orders.map(trySign));
    await client.signCertificate(orders[0]);
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

  it('does not replace another process, and does not read exposed keys', async () => {
    await serve();
    const second = await serve();
    expect(second.lines).toEqual([
      `directory-ca serve: Another process listens on ${socket}`,
    ]);
    await client.describe();
    const key = join(folder, 'ca.key');
    await chmod(key, 0o640);
    const third = await serve();
    expect(third.lines).toEqual([
      expect.stringContaining(`${key} is accessible to other users`),
    ]);
    await chmod(key, 0o600);
  });

  (process.getuid?.() === 0 ? it : it.skip)(
    'does not run as root without --allow-root',
    async () => {
      const refused = promisify(execFile)(process.execPath, [
        BIN,
        'serve',
        '--config',
        configFile,
      ]);
      await expect(refused).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining('must not run as root'),
      });
    },
  );
});
