import {
  createHash,
  generateKeyPairSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CaIssuer, publicKeyOf } from '@directory-gateway/ca';
import {
  createCaCertificate,
  Issuer,
  randomSerialNumber,
  signingKeyOf,
  writePem,
} from '@directory-gateway/x509';
import type { IssuerFiles } from '../config';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A CA below a root, and its files. */
export interface TestIntermediate {
  readonly id: string;
  readonly key: KeyObject;
  readonly certificate: Buffer;
  readonly files: IssuerFiles;
}

/** A root and intermediates below it. */
export class TestRoot {
  readonly name: string;
  readonly certificate: Buffer;
  readonly #folder: string;
  readonly #issuer: Issuer;

  /** @param folder - an existing folder */
  static async create(
    folder: string,
    options: { readonly name?: string } = {},
  ): Promise<TestRoot> {
    const { name = 'Root' } = options;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const key = signingKeyOf(privateKey);
    const certificate = await createCaCertificate({
      subject: subjectOf(name),
      key,
      ...validity(3650),
      pathLength: 1,
    });
    const issuer = Issuer.create({ certificate, key });
    return new TestRoot({ name, folder, certificate, issuer });
  }

  private constructor(options: {
    readonly name: string;
    readonly folder: string;
    readonly certificate: Buffer;
    readonly issuer: Issuer;
  }) {
    this.name = options.name;
    this.certificate = options.certificate;
    this.#folder = options.folder;
    this.#issuer = options.issuer;
  }

  /** Name of the root in URLs. */
  get urlName(): string {
    const spki = publicKeyOf(this.certificate);
    return createHash('sha256').update(spki).digest('hex').slice(0, 16);
  }

  /** The certificate of the root, PEM. */
  get pem(): string {
    return writePem('CERTIFICATE', this.certificate);
  }

  /** Creates an intermediate and its files. */
  async createIntermediate(
    name = 'Certificate Authority',
  ): Promise<TestIntermediate> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return await this.certify(name, privateKey);
  }

  /** Signs another certificate for the key of an intermediate. */
  async certify(name: string, key: KeyObject): Promise<TestIntermediate> {
    const signingKey = signingKeyOf(key);
    const certificate = await this.#issuer.signCertificate({
      serialNumber: randomSerialNumber(),
      subject: subjectOf(name),
      ...validity(1095),
      extensions: {
        basicConstraints: { ca: true, pathLength: 0 },
        keyUsage: ['keyCertSign', 'cRLSign'],
      },
      spki: signingKey.spki,
    });
    const folder = join(this.#folder, randomBytes(4).toString('hex'));
    await mkdir(folder);
    const files = {
      chainFile: join(folder, 'chain.pem'),
      keyFile: join(folder, 'ca.key'),
    };
    await writeFile(
      files.chainFile,
      writePem('CERTIFICATE', certificate) + this.pem,
    );
    await writeFile(
      files.keyFile,
      key.export({ type: 'pkcs8', format: 'pem' }),
      { mode: 0o600 },
    );
    const { id } = CaIssuer.create({ chain: [certificate], key: signingKey });
    return { id, key, certificate, files };
  }

  /** Signs an empty CRL, PEM. */
  async signRevocationList(): Promise<string> {
    return writePem(
      'X509 CRL',
      await this.#issuer.signRevocationList({
        number: 1n,
        thisUpdate: new Date(Date.now() - DAY_MS),
        nextUpdate: new Date(Date.now() + 365 * DAY_MS),
        revoked: [],
      }),
    );
  }
}

function subjectOf(name: string) {
  return [
    { type: 'O', value: 'EXAMPLE.TEST' },
    { type: 'CN', value: name },
  ] as const;
}

function validity(days: number) {
  return {
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
  };
}
