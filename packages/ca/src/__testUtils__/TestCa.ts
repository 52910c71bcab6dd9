import { type KeyObject, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Issuer,
  type SigningKey,
  createCaCertificate,
  createCertificateRequest,
  randomSerialNumber,
  signingKeyOf,
} from '@directory-gateway/x509';
import { CaIssuer } from '../CaIssuer';
import type {
  SignCertificateRequest,
  SignRevocationListRequest,
} from '../CertificateSigner';
import { LocalSigner, type LocalSignerOptions } from '../LocalSigner';
import type { CertificateProfile } from '../profiles';

const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** Base of the URLs in certificates. */
export const PUBLIC_URL = 'https://portal.example.test/api/directory';

/** A profile with every extension. */
export const PROFILE: CertificateProfile = {
  name: 'userCerts',
  organization: 'EXAMPLE.TEST',
  validityMs: 30 * DAY_MS,
  keyUsage: ['digitalSignature', 'keyEncipherment'],
  extendedKeyUsage: ['clientAuth', '1.3.6.1.5.2.3.4'],
  policies: ['1.3.6.1.4.1.99999.1'],
};

/** Generates a key of P-256. */
export function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

/** Creates a root and an intermediate below it. */
export async function createIssuer(
  options: {
    /** Key of the intermediate. Default: a new one. */
    readonly key?: SigningKey;
    /** Validity of the intermediate. Default: a year. */
    readonly validityMs?: number;
  } = {},
): Promise<CaIssuer> {
  const { key = signingKeyOf(newKey()), validityMs = 365 * DAY_MS } = options;
  const notBefore = new Date(Date.now() - DAY_MS);
  const notAfter = new Date(notBefore.getTime() + DAY_MS + validityMs);
  const rootKey = signingKeyOf(newKey());
  const root = await createCaCertificate({
    subject: [
      { type: 'O', value: 'EXAMPLE.TEST' },
      { type: 'CN', value: 'Root' },
    ],
    key: rootKey,
    notBefore,
    notAfter,
    pathLength: 1,
  });
  const certificate = await Issuer.create({
    certificate: root,
    key: rootKey,
  }).signCertificate({
    serialNumber: randomSerialNumber(),
    subject: [
      { type: 'O', value: 'EXAMPLE.TEST' },
      { type: 'CN', value: 'Issuing CA' },
    ],
    spki: key.spki,
    notBefore,
    notAfter,
    extensions: {
      basicConstraints: { ca: true, pathLength: 0 },
      keyUsage: ['keyCertSign', 'cRLSign'],
    },
  });
  return CaIssuer.create({ chain: [certificate, root], key });
}

/** Creates a CSR that proves possession of a key. */
export async function createCsr(
  privateKey: KeyObject = newKey(),
): Promise<Buffer> {
  return await createCertificateRequest({
    subject: [{ type: 'CN', value: 'anyone' }],
    key: signingKeyOf(privateKey),
  });
}

/** A CA with a log in a temporary folder, for which signers can be opened. */
export class TestCa {
  readonly issuer: CaIssuer;
  readonly folder: string;
  readonly warnings = new Array<string>();
  /** The clock of the signers, in milliseconds since 1970. */
  now = Date.now();
  readonly #signers = new Array<LocalSigner>();

  static async create(issuer?: CaIssuer): Promise<TestCa> {
    const folder = await mkdtemp(join(tmpdir(), 'ca-test-'));
    return new TestCa(issuer ?? (await createIssuer()), folder);
  }

  private constructor(issuer: CaIssuer, folder: string) {
    this.issuer = issuer;
    this.folder = folder;
  }

  /** Opens a signer, as another process would. */
  async open(options: Partial<LocalSignerOptions> = {}): Promise<LocalSigner> {
    const signer = await LocalSigner.open({
      issuers: [this.issuer],
      profiles: new Map([[PROFILE.name, PROFILE]]),
      publicUrl: PUBLIC_URL,
      logFolder: this.folder,
      warn: message => this.warnings.push(message),
      now: () => this.now,
      ...options,
    });
    this.#signers.push(signer);
    return signer;
  }

  /** Creates a request for alice, with the given fields replaced. */
  async request(
    changes: Partial<SignCertificateRequest> = {},
  ): Promise<SignCertificateRequest> {
    return {
      issuerId: this.issuer.id,
      serialNumber: randomSerialNumber(),
      profile: PROFILE.name,
      username: 'alice',
      csr: changes.csr ?? (await createCsr()),
      alternativeNames: {
        emails: ['alice@example.test'],
        userPrincipalNames: ['alice@EXAMPLE.TEST'],
        kerberosPrincipalNames: ['alice@EXAMPLE.TEST'],
      },
      notBefore: new Date(this.now - 5 * MINUTE_MS),
      notAfter: new Date(this.now + 30 * DAY_MS),
      requestedBy: 'user:default/alice',
      ...changes,
    };
  }

  /** Creates a request for a CRL, with the given fields replaced. */
  crl(
    number: number | bigint,
    changes: Partial<SignRevocationListRequest> = {},
  ): SignRevocationListRequest {
    return {
      issuerId: this.issuer.id,
      number: BigInt(number),
      thisUpdate: new Date(this.now - 5 * MINUTE_MS),
      nextUpdate: new Date(this.now + 7 * DAY_MS),
      revoked: [],
      ...changes,
    };
  }

  /** Closes the signers and removes the folder. */
  async remove(): Promise<void> {
    await Promise.all(this.#signers.map(signer => signer.close()));
    await rm(this.folder, { recursive: true, force: true });
  }
}
