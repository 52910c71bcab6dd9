import { execFile } from 'node:child_process';
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The options of a key pair of the curve P-256. */
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];

/** The files that `docs/step-ca.md` describes, in a temporary folder. */
export class StepCaFiles {
  readonly folder: string;
  /** Root in PEM. */
  readonly rootFile: string;
  readonly provisionerKeyFile: string;

  /** @param options - `days`: validity of the intermediate. Default: 365 */
  static async create(
    options: { readonly days?: number } = {},
  ): Promise<StepCaFiles> {
    const files = new StepCaFiles(await mkdtemp(join(tmpdir(), 'step-ca-')));
    await files.#createCa(options.days ?? 365);
    await files.createProvisionerKey();
    return files;
  }

  private constructor(folder: string) {
    this.folder = folder;
    this.rootFile = this.path('root.pem');
    this.provisionerKeyFile = this.path('provisioner.jwk');
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async read(name: string): Promise<string> {
    return await readFile(this.path(name), 'utf8');
  }

  async readBytes(name: string): Promise<Buffer> {
    return await readFile(this.path(name));
  }

  /** Writes a private file. */
  async write(name: string, text: string): Promise<string> {
    await writeFile(this.path(name), text, { mode: 0o600 });
    return this.path(name);
  }

  async createProvisionerKey(): Promise<void> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await rm(this.provisionerKeyFile, { force: true });
    await this.write('provisioner.jwk', JSON.stringify(toJwk(privateKey)));
  }

  /** The provisioner's private key as a JWK. */
  async provisionerKey(): Promise<ReturnType<typeof toJwk>> {
    return JSON.parse(await this.read('provisioner.jwk'));
  }

  async openssl(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('openssl', args, { cwd: this.folder });
    return stdout;
  }

  /**
   * Issues a server certificate for `localhost` below the root.
   *
   * @returns the key and the certificate in PEM
   */
  async serverIdentity(): Promise<{ key: string; cert: string }> {
    const { key, cert } = await this.issue('server', {
      issuer: 'intermediate',
      subject: '/CN=localhost',
      extensions: 'subjectAltName=DNS:localhost,IP:127.0.0.1',
    });
    return { key, cert: cert + (await this.read('intermediate.pem')) };
  }

  /** The intermediate in DER, with its private key. */
  async intermediate(): Promise<{ certificate: Buffer; key: KeyObject }> {
    const pem = await this.read('intermediate.pem');
    return {
      certificate: Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64'),
      key: createPrivateKey(await this.read('intermediate.key')),
    };
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #createCa(days: number): Promise<void> {
    await this.openssl(
      ...['req', '-x509', '-new', ...EC],
      ...['-subj', '/O=EXAMPLE.TEST/CN=Root', '-days', '3650'],
      ...['-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
      ...['-keyout', 'root.key', '-out', 'root.pem'],
    );
    await this.issue('intermediate', {
      issuer: 'root',
      days,
      subject: '/O=EXAMPLE.TEST/CN=Intermediate',
      extensions:
        'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign,cRLSign',
    });
  }

  /**
   * Issues a certificate for a new key.
   *
   * @returns the key and the certificate in PEM
   */
  async issue(
    name: string,
    options: {
      readonly issuer: string;
      readonly days?: number;
      readonly subject: string;
      readonly extensions: string;
    },
  ): Promise<{ readonly key: string; readonly cert: string }> {
    const { issuer, days = 1, subject, extensions } = options;
    await this.write(`${name}.ext`, extensions);
    await this.openssl(
      ...['req', '-new', ...EC, '-subj', subject],
      ...['-keyout', `${name}.key`, '-out', `${name}.csr`],
    );
    await this.openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-days', `${days}`],
      ...['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial'],
      ...['-extfile', `${name}.ext`, '-out', `${name}.pem`],
    );
    return {
      key: await this.read(`${name}.key`),
      cert: await this.read(`${name}.pem`),
    };
  }
}

/** Returns a private key as `step crypto jwk create` writes it (RFC 7638). */
function toJwk(privateKey: KeyObject) {
  const jwk = privateKey.export({ format: 'jwk' });
  const { crv, kty, x, y } = jwk;
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv, kty, x, y }))
    .digest('base64url');
  return { ...jwk, kid, use: 'sig', alg: 'ES256' };
}
