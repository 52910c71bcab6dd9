import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openssl } from './openssl';

/** An issued certificate and its record. */
export interface FakeCertificate {
  readonly certificate: X509Certificate;
  readonly username: string;
  readonly issuedAt: Date;
  revocationReason?: number;
}

const SUBJECT = '/O=EXAMPLE.TEST/CN=Certificate Authority';

const CA_EXTENSIONS = 'basicConstraints=critical,CA:TRUE\n';
const USER_EXTENSIONS =
  'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=clientAuth\n';
const SERVER_EXTENSIONS = 'subjectAltName=DNS:localhost\n';

/**
 * A CA that signs with OpenSSL, below an external root. Fake servers that share
 * it are replicas.
 */
export class FakeCa {
  readonly folder: string;
  /** Certificates by serial number. */
  readonly issued = new Map<bigint, FakeCertificate>();
  #chain: readonly X509Certificate[] = [];
  #identity: Promise<{ key: string; cert: string }> | undefined;

  static async create(): Promise<FakeCa> {
    const ca = new FakeCa(await mkdtemp(join(tmpdir(), 'freeipa-ca-')));
    await ca.#initialize();
    return ca;
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** PEM file of the root. */
  get caFile(): string {
    return join(this.folder, 'root.pem');
  }

  /** The CA's certificates in the wrong order. */
  get shuffledChain(): readonly X509Certificate[] {
    return [...this.#chain].reverse();
  }

  get issuer(): X509Certificate {
    return this.#chain[0];
  }

  /** Key and certificate chain of the HTTPS servers on `localhost`, PEM. */
  async serverIdentity(): Promise<{ key: string; cert: string }> {
    this.#identity ??= this.#createIdentity();
    return await this.#identity;
  }

  /** @throws Error with OpenSSL's message about the CSR. */
  async issue(options: {
    readonly csr: Buffer;
    readonly username: string;
  }): Promise<FakeCertificate> {
    const { csr, username } = options;
    const certificate = await this.#sign({
      csr,
      subject: `/O=EXAMPLE.TEST/CN=${username}`,
      by: 'ca',
      extensions: USER_EXTENSIONS,
    });
    const entry = { certificate, username, issuedAt: new Date() };
    this.issued.set(BigInt(`0x${certificate.serialNumber}`), entry);
    return entry;
  }

  /** Returns the last CN of a CSR. */
  async commonNameOf(csr: Buffer): Promise<string | undefined> {
    const text = await openssl(
      ['req', '-inform', 'DER', '-noout', '-subject', '-nameopt', 'multiline'],
      csr,
    );
    const names = [...text.toString().matchAll(/commonName\s*= (.*)/g)];
    return names.at(-1)?.[1];
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }

  async #createIdentity(): Promise<{ key: string; cert: string }> {
    const key = await newKey(join(this.folder, 'server.key'));
    const csr = await newCsr({ key, subject: '/CN=localhost' });
    const leaf = await this.#sign({
      csr,
      subject: '/CN=localhost',
      by: 'ca',
      extensions: SERVER_EXTENSIONS,
    });
    return {
      key: await readFile(key, 'utf8'),
      cert: `${leaf.toString()}${this.issuer.toString()}`,
    };
  }

  async #initialize(): Promise<void> {
    const rootKey = await newKey(join(this.folder, 'root.key'));
    await openssl([
      ...['req', '-x509', '-key', rootKey, '-subj', '/CN=External root'],
      ...['-days', '2', '-out', this.caFile],
    ]);
    const caKey = await newKey(join(this.folder, 'ca.key'));
    const ca = await this.#sign({
      csr: await newCsr({ key: caKey, subject: SUBJECT }),
      subject: SUBJECT,
      by: 'root',
      extensions: CA_EXTENSIONS,
    });
    await writeFile(join(this.folder, 'ca.pem'), ca.toString());
    const root = new X509Certificate(await readFile(this.caFile));
    this.#chain = [ca, root];
  }

  async #sign(options: {
    readonly csr: Buffer;
    readonly subject: string;
    readonly by: 'root' | 'ca';
    readonly extensions: string;
  }): Promise<X509Certificate> {
    const { csr, subject, by, extensions } = options;
    const serial = randomBytes(16);
    serial[0] = (serial[0] % 0x7f) + 1; // positive and 128 bits long
    const extensionsFile = join(this.folder, serial.toString('hex'));
    await writeFile(extensionsFile, extensions);
    const der = await openssl(
      [
        ...['x509', '-req', '-inform', 'DER', '-outform', 'DER'],
        ...['-CA', join(this.folder, `${by}.pem`)],
        ...['-CAkey', join(this.folder, `${by}.key`)],
        ...['-set_serial', `0x${serial.toString('hex')}`],
        ...['-days', '1', '-subj', subject, '-extfile', extensionsFile],
      ],
      csr,
    );
    return new X509Certificate(der);
  }
}

async function newKey(file: string): Promise<string> {
  const curve = ['-pkeyopt', 'ec_paramgen_curve:P-256'];
  await openssl(['genpkey', '-algorithm', 'EC', ...curve, '-out', file]);
  return file;
}

async function newCsr(options: {
  readonly key: string;
  readonly subject: string;
}): Promise<Buffer> {
  const { key, subject } = options;
  const args = ['-new', '-key', key, '-subj', subject, '-outform', 'DER'];
  return await openssl(['req', ...args]);
}
