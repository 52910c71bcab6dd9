import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, isError } from '@backstage/errors';
import {
  Certificate,
  type CertificateDescription,
  Issuer,
  type NamePart,
  type RevocationReason,
  type RevokedCertificate,
  type SigningKey,
  createCaCertificate,
  createCertificateRequest,
  randomSerialNumber,
  readCertificateRequest,
  readCertifiedSubject,
  readPemBlocks,
  signingKeyOf,
  writePem,
} from '@directory-gateway/x509';
import { documentUrlsOf, issuerIdOf } from './CaIssuer';
import {
  type KeyType,
  generateKeyFile,
  readKeyFile,
  writeNewFile,
} from './keys/KeyFile';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The subject of a new CA. */
export interface CaName {
  /** Organization (`O`). */
  readonly organization: string;
  /**
   * Common name (`CN`). Default: a unique name that contains the start of the
   * CA's id.
   */
  readonly commonName?: string;
}

/** A folder with a root: `root.key` and `root.pem`. */
export interface RootLocation {
  readonly folder: string;
  /**
   * Path of the file with the passphrase of the root's key. Default: the key is
   * not encrypted.
   */
  readonly passphraseFile?: string;
}

/** A CA certificate that was written to a file. */
export interface WrittenCertificate {
  readonly path: string;
  readonly certificate: CertificateDescription;
}

/**
 * Creates a self-signed root: `root.key` and `root.pem`.
 *
 * @param options - `years`: validity; `pathLength`: maximum number of CAs below
 *   the root
 * @throws InputError when a file exists.
 */
export async function createRoot(
  options: RootLocation & {
    readonly name: CaName;
    readonly keyType: KeyType;
    readonly years: number;
    readonly pathLength: number;
  },
): Promise<WrittenCertificate> {
  const { folder, passphraseFile, name, keyType, years, pathLength } = options;
  await preparePrivateFolder(folder);
  const path = join(folder, 'root.pem');
  await requireAbsent(path);
  const key = await generateKeyFile({
    path: join(folder, 'root.key'),
    type: keyType,
    passphraseFile,
  });
  const certificate = await createCaCertificate({
    subject: subjectOf(name, { kind: 'Root CA', key }),
    key,
    ...validityOf(years),
    pathLength,
  });
  return await writeCertificates(path, [certificate]);
}

/**
 * Signs the certificate of an intermediate and writes it, followed by that of
 * the root.
 *
 * @param options - `path`: file of the certificates; `subject`: subject and key
 *   of the intermediate; the key is created after the root has been opened;
 *   `years`: validity, limited by that of the root; `publicUrl`: base URL of
 *   the root's CRL and certificate. Default: the certificate does not contain
 *   these URLs
 * @throws InputError when the file exists, or the root cannot be read.
 */
export async function certifyIntermediate(options: {
  readonly root: RootLocation;
  readonly path: string;
  readonly subject:
    | { readonly name: CaName; readonly createKey: () => Promise<SigningKey> }
    | { readonly csrFile: string };
  readonly years: number;
  readonly publicUrl?: string;
}): Promise<WrittenCertificate> {
  const { root, path, years, publicUrl } = options;
  await requireAbsent(path);
  const issuer = await openRoot(root);
  const { subject, spki } = await readSubject(options.subject);
  const urls = publicUrl !== undefined && urlsOf(issuer, publicUrl);
  const certificate = await issuer.signCertificate({
    serialNumber: randomSerialNumber(),
    subject,
    spki,
    ...validityOf(years, issuer.certificate),
    extensions: {
      basicConstraints: { ca: true, pathLength: 0 },
      keyUsage: ['keyCertSign', 'cRLSign'],
      ...(urls && {
        crlDistributionPoints: [urls.crl],
        caIssuers: [urls.certificate],
      }),
    },
  });
  return await writeCertificates(path, [certificate, derOf(issuer)]);
}

/**
 * Writes a CSR for the key of an intermediate, for a root on another machine.
 *
 * @throws InputError when a file exists.
 */
export async function requestIntermediate(options: {
  readonly name: CaName;
  readonly key: SigningKey;
  /** Path of the CSR. */
  readonly path: string;
}): Promise<void> {
  const { name, key, path } = options;
  const csr = await createCertificateRequest({
    subject: subjectOf(name, { kind: 'Issuing CA', key }),
    key,
  });
  await writeNewFile(path, writePem('CERTIFICATE REQUEST', csr));
}

/**
 * Signs a certificate for the key and the name of another CA: clients that trust
 * only this root then accept certificates of the other CA.
 *
 * @param options - `certificateFile`: a certificate of the other CA; `path`: file
 *   of the new certificate, which is followed by that of the root
 * @throws InputError when the file exists, a certificate cannot be read, or the
 *   other CA permits more CAs below it than the path length of the root does.
 */
export async function crossSign(options: {
  readonly root: RootLocation;
  readonly certificateFile: string;
  readonly path: string;
  readonly publicUrl?: string;
}): Promise<WrittenCertificate> {
  const { root, certificateFile, path, publicUrl } = options;
  await requireAbsent(path);
  const issuer = await openRoot(root);
  const [der] = await readCertificates(certificateFile);
  const { ca, keyUsage, pathLength, notAfter } = describe(der, certificateFile);
  if (!ca) {
    throw new InputError(`${certificateFile} is not the certificate of a CA`);
  }
  const permitted = (issuer.certificate.pathLength ?? Infinity) - 1;
  if ((pathLength ?? Infinity) > permitted) {
    throw new InputError(
      `${certificateFile} permits ${
        pathLength ?? 'any number of'
      } CAs below it, but the path length of the root (${
        issuer.certificate.pathLength
      }) permits at most ${permitted}: cross-sign the intermediate instead`,
    );
  }
  const { subject, spki, subjectKeyIdentifier } = readCertifiedSubject(der);
  const now = backdated();
  const urls = publicUrl !== undefined && urlsOf(issuer, publicUrl);
  const certificate = await issuer.signCertificate({
    serialNumber: randomSerialNumber(),
    subject,
    spki,
    notBefore: new Date(now),
    notAfter: new Date(Math.min(notAfter, issuer.certificate.notAfter)),
    extensions: {
      basicConstraints: { ca: true, pathLength },
      keyUsage: keyUsage ?? ['keyCertSign', 'cRLSign'],
      ...(subjectKeyIdentifier && { subjectKeyIdentifier }),
      ...(urls && {
        crlDistributionPoints: [urls.crl],
        caIssuers: [urls.certificate],
      }),
    },
  });
  return await writeCertificates(path, [certificate, derOf(issuer)]);
}

/** Content of `root-crl-N.json`: the entries of CRL N, for the next CRL. */
interface RootCrlRecord {
  readonly number: number;
  readonly revoked: readonly {
    readonly serialNumber: string;
    readonly revokedAt: string;
    readonly reason: RevocationReason;
  }[];
}

/**
 * Signs the next CRL of a root. Writes `root-crl-N.pem`, and `root-crl-N.json`,
 * which the next call reads.
 *
 * @param options - `days`: validity; `revoke`: certificates to revoke
 * @returns path of the CRL
 * @throws InputError when the root has not signed a certificate in `revoke`.
 */
export async function createRootCrl(options: {
  readonly root: RootLocation;
  readonly days: number;
  readonly revoke: readonly {
    readonly certificateFile: string;
    readonly reason: RevocationReason;
  }[];
}): Promise<string> {
  const { root, days, revoke } = options;
  const issuer = await openRoot(root);
  const previous = await readLastCrl(root.folder);
  const now = backdated();
  const added = await Promise.all(
    revoke.map(async ({ certificateFile, reason }) => ({
      serialNumber: await readSerialNumber(certificateFile, issuer),
      revokedAt: new Date(now).toISOString(),
      reason,
    })),
  );
  const record: RootCrlRecord = {
    number: previous.number + 1,
    revoked: [
      ...previous.revoked.filter(({ serialNumber }) =>
        added.every(entry => entry.serialNumber !== serialNumber),
      ),
      ...added,
    ],
  };
  const crl = await issuer.signRevocationList({
    number: BigInt(record.number),
    thisUpdate: new Date(now),
    nextUpdate: new Date(now + days * DAY_MS),
    revoked: record.revoked.map(
      ({ serialNumber, revokedAt, reason }): RevokedCertificate => ({
        serialNumber: BigInt(serialNumber),
        revokedAt: new Date(revokedAt),
        reason,
      }),
    ),
  });
  const base = join(root.folder, `root-crl-${record.number}`);
  await writeNewFile(`${base}.json`, `${JSON.stringify(record, null, 2)}\n`);
  await writeNewFile(`${base}.pem`, writePem('X509 CRL', crl));
  return `${base}.pem`;
}

async function readLastCrl(folder: string): Promise<RootCrlRecord> {
  const numbers = (await readdir(folder)).flatMap(name => {
    const match = /^root-crl-(\d+)\.json$/.exec(name);
    return match ? [Number(match[1])] : [];
  });
  const last = Math.max(0, ...numbers);
  if (last === 0) {
    return { number: 0, revoked: [] };
  }
  const path = join(folder, `root-crl-${last}.json`);
  return JSON.parse(await readFile(path, 'utf8')) as RootCrlRecord;
}

/** Serial number in decimal of a certificate that the root has signed. */
async function readSerialNumber(path: string, root: Issuer): Promise<string> {
  const [der] = await readCertificates(path);
  const rootKey = new X509Certificate(derOf(root)).publicKey;
  if (!new X509Certificate(der).verify(rootKey)) {
    throw new InputError(`${path} is not signed by the root`);
  }
  return String(describe(der, path).serialNumber);
}

/** Time from the start of validity to now, for clients whose clocks are behind. */
const BACKDATING_MS = 5 * 60 * 1000;

/** Returns the time 5 minutes ago, in milliseconds since 1970, in whole seconds. */
function backdated(): number {
  return Math.floor((Date.now() - BACKDATING_MS) / 1000) * 1000;
}

function validityOf(
  years: number,
  limit: { readonly notAfter: number } = { notAfter: Infinity },
): { readonly notBefore: Date; readonly notAfter: Date } {
  const notAfter = new Date(backdated());
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + years);
  return {
    notBefore: new Date(backdated()),
    notAfter: new Date(Math.min(notAfter.getTime(), limit.notAfter)),
  };
}

/**
 * Returns the subject of a CA. Names are unique by default: clients find CRLs
 * and CA certificates by name, and those that do not compare keys would confuse
 * two CAs with the same name.
 */
function subjectOf(
  { organization, commonName }: CaName,
  ca: { readonly kind: string; readonly key: SigningKey },
): readonly NamePart[] {
  const unique = `${ca.kind} ${issuerIdOf(ca.key.spki).slice(0, 8)}`;
  return [
    { type: 'O', value: organization },
    { type: 'CN', value: commonName ?? unique },
  ];
}

async function readSubject(
  source: Parameters<typeof certifyIntermediate>[0]['subject'],
): Promise<{
  readonly subject: readonly NamePart[] | Buffer;
  readonly spki: Buffer;
}> {
  if ('name' in source) {
    const key = await source.createKey();
    return {
      subject: subjectOf(source.name, { kind: 'Issuing CA', key }),
      spki: key.spki,
    };
  }
  const result = readCertificateRequest(
    await readText(source.csrFile, 'a certificate request'),
  );
  if (!result.ok) {
    throw new InputError(`${source.csrFile}: ${result.message}`);
  }
  const { subjectDer, publicKey } = result.csr;
  return { subject: subjectDer, spki: publicKey.spki };
}

/** Opens a root with its key. */
async function openRoot({
  folder,
  passphraseFile,
}: RootLocation): Promise<Issuer> {
  const path = join(folder, 'root.pem');
  const [certificate] = await readCertificates(path);
  const privateKey = await readKeyFile({
    path: join(folder, 'root.key'),
    passphraseFile,
  });
  try {
    return Issuer.create({ certificate, key: signingKeyOf(privateKey) });
  } catch (error) {
    throw new InputError(`${path}: ${isError(error) ? error.message : error}`);
  }
}

function derOf({ certificate }: Issuer): Buffer {
  return Buffer.from(certificate.base64, 'base64');
}

function urlsOf(issuer: Issuer, publicUrl: string) {
  const { spki } = readCertifiedSubject(derOf(issuer));
  return documentUrlsOf({ id: issuerIdOf(spki), publicUrl });
}

/** Reads the certificates of a PEM file, at least one. */
async function readCertificates(path: string): Promise<readonly Buffer[]> {
  const certificates = readPemBlocks(await readText(path, 'a certificate'), {
    label: 'CERTIFICATE',
  });
  if (certificates.length === 0) {
    throw new InputError(
      `${path} does not contain a certificate in PEM format`,
    );
  }
  return certificates;
}

async function readText(path: string, content: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const reason = isError(error) ? error.code : error;
    throw new InputError(`Cannot read ${content} from ${path}: ${reason}`);
  }
}

function describe(der: Buffer, path: string): CertificateDescription {
  const { description } = new Certificate(der);
  if (!description.ok) {
    throw new InputError(`${path}: ${description.message}`);
  }
  return description.certificate;
}

async function writeCertificates(
  path: string,
  chain: readonly Buffer[],
): Promise<WrittenCertificate> {
  const pem = chain.map(der => writePem('CERTIFICATE', der)).join('');
  await writeNewFile(path, pem);
  return { path, certificate: describe(chain[0], path) };
}

/**
 * Creates a folder with mode 0700.
 *
 * @throws InputError when it exists and belongs to another user, or is accessible
 *   to other users.
 */
export async function preparePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode, uid } = await stat(folder);
  if ((mode & 0o077) !== 0) {
    throw new InputError(
      `${folder} is accessible to other users: run chmod 700, or choose another folder`,
    );
  }
  if (uid !== process.geteuid?.()) {
    throw new InputError(
      `${folder} belongs to another user (uid ${uid}): choose another folder`,
    );
  }
}

/** @throws InputError when the file exists. */
export async function requireAbsent(path: string): Promise<void> {
  const isPresent = await stat(path).then(
    () => true,
    () => false,
  );
  if (isPresent) {
    throw new InputError(`${path} exists and will not be overwritten`);
  }
}
