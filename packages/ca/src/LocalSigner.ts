import { createHash } from 'node:crypto';
import {
  type RevokedCertificate,
  readCertificateRequest,
} from '@directory-gateway/x509';
import { type CaIssuer, documentUrlsOf, publicKeyOf } from './CaIssuer';
import {
  type SignCertificateRequest,
  type CertificateSigner,
  type IssuerDescription,
  type IssuerId,
  type LoggedCertificate,
  type SignRevocationListRequest,
  SignerLimitError,
  SignerRefusalError,
  SignerUnavailableError,
} from './CertificateSigner';
import { IssuanceLog } from './log/IssuanceLog';
import type { CertificatePlace, CrlState } from './log/LogState';
import type { ListedRevocation } from './log/logLines';
import { makeCertificate } from './makeCertificate';
import type { CertificateProfile } from './profiles';

/**
 * Options of {@link LocalSigner.open}.
 *
 * @public
 */
export interface LocalSignerOptions {
  /** The first one signs certificates; each one signs its own CRL. */
  readonly issuers: readonly CaIssuer[];
  /** Certificate profiles by name. */
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /**
   * Base URL of CRLs and CA certificates, without a trailing `/`: the external
   * URL of the gateway, `https://portal.example.org/api/directory`.
   */
  readonly publicUrl: string;
  /** Absolute path of the folder of the issuance log, mode 0700. */
  readonly logFolder: string;
  /**
   * Maximum number of certificates per `perMs` milliseconds. Default: 1,000 per
   * minute.
   */
  readonly limit?: { readonly certificates: number; readonly perMs: number };
  /** Logs a warning for an operator, on one line. Default: ignored. */
  readonly warn?: (message: string) => void;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

const DEFAULT_LIMIT = { certificates: 1000, perMs: 60_000 };

/** Rate limits of the other entries that a caller can add to the log. */
const MINUTE_MS = 60_000;
const MAX_CRLS_PER_MINUTE = 60;
const MAX_BLOCKS_PER_MINUTE = 1000;

/** Limits of a request, which is written to the log. */
const MAX_CSR_BYTES = 16 * 1024;
const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 255;

/** Clock skew that Kerberos, and therefore every client, tolerates (RFC 4120 §1.6). */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/**
 * Maximum time from the start of validity to now. The caller sets the start 5
 * minutes back, for clients whose clocks are behind; its own clock may be behind
 * as well.
 */
const MAX_BACKDATING_MS = 2 * CLOCK_SKEW_MS;

/**
 * Maximum validity of a CRL in milliseconds, 31 days. A client that has a CRL may
 * not see later revocations until that CRL expires.
 *
 * @public
 */
export const MAX_CRL_VALIDITY_MS = 31 * 24 * 60 * 60 * 1000;

/**
 * Maximum difference between the numbers of two CRLs. Without it, a request with
 * the largest possible number would prevent all later CRLs of the CA.
 */
const MAX_CRL_NUMBER_STEP = 2n ** 32n;

interface RunningRequest {
  readonly request: SignCertificateRequest;
  readonly spki: Buffer;
  readonly certificate: Promise<Buffer>;
}

/** Times of recent events. */
class RecentTimes {
  #times = new Array<number>();

  add(time: number): void {
    this.#times.push(time);
  }

  /** Returns the number of events after a time, and discards earlier ones. */
  countSince(time: number): number {
    this.#times = this.#times.filter(other => other > time);
    return this.#times.length;
  }
}

/**
 * Signs in this process. The signer does not trust its caller: it checks each
 * request, and logs each certificate and CRL before it returns them.
 *
 * @public
 */
export class LocalSigner implements CertificateSigner {
  readonly #options: LocalSignerOptions;
  readonly #log: IssuanceLog;
  readonly #now: () => number;
  /** SubjectPublicKeyInfo of the CAs and their issuers, in hex. */
  readonly #caKeys: ReadonlySet<string>;
  /** Requests that are being signed, by serial number. */
  readonly #running = new Map<bigint, RunningRequest>();
  /** Times of signed certificates that could not be logged. */
  readonly #unlogged = new RecentTimes();
  readonly #crlTimes = new RecentTimes();
  readonly #blockTimes = new RecentTimes();
  /** The last CRL request for each CA: the next one waits for it. */
  readonly #crls = new Map<IssuerId, Promise<unknown>>();

  /**
   * Reads the issuance log.
   *
   * @throws SignerUnavailableError when the log cannot be read.
   * @throws TypeError when `issuers` is empty, or contains a CA twice.
   */
  static async open(options: LocalSignerOptions): Promise<LocalSigner> {
    const { issuers, logFolder, warn = () => {}, now = Date.now } = options;
    const ids = new Set(issuers.map(({ id }) => id));
    if (ids.size === 0 || ids.size < issuers.length) {
      throw new TypeError(
        'There must be at least one CA, and each CA must have a different key',
      );
    }
    const log = await IssuanceLog.open({
      folder: logFolder,
      issuers,
      warn,
      now,
    });
    return new LocalSigner(options, log);
  }

  private constructor(options: LocalSignerOptions, log: IssuanceLog) {
    this.#options = options;
    this.#log = log;
    this.#now = options.now ?? Date.now;
    this.#caKeys = new Set(
      options.issuers.flatMap(({ chain }) =>
        chain.map(der => publicKeyOf(der).toString('hex')),
      ),
    );
  }

  /**
   * The last lines of the log when it was read: file, line number and SHA-256.
   * Recorded elsewhere, these values reveal lines that are removed later.
   */
  get logHeads(): readonly {
    readonly file: string;
    readonly lines: number;
    readonly sha256: string;
  }[] {
    return this.#log.heads;
  }

  /** {@inheritDoc CertificateSigner.describe} */
  async describe(): Promise<{
    readonly issuers: readonly IssuerDescription[];
  }> {
    await this.#log.refresh();
    return {
      issuers: this.#options.issuers.map(({ id, chain }) => ({
        id,
        chain,
        crlNumber: this.#log.state.crlOf(id).number,
      })),
    };
  }

  /** {@inheritDoc CertificateSigner.signCertificate} */
  async signCertificate(request: SignCertificateRequest): Promise<Buffer> {
    requireLimits(request);
    const spki = verifyPossession(request);
    await this.#log.refresh();
    const logged = this.#log.state.findCertificate(request.serialNumber);
    if (logged) {
      return await this.#readLogged({ request, spki, logged });
    }
    const running = this.#running.get(request.serialNumber);
    if (running) {
      requireSameRequest({ request, spki }, running);
      return await running.certificate;
    }
    const certificate = this.#signNew(request, spki);
    this.#running.set(request.serialNumber, { request, spki, certificate });
    try {
      return await certificate;
    } finally {
      this.#running.delete(request.serialNumber);
    }
  }

  /** {@inheritDoc CertificateSigner.signRevocationList} */
  async signRevocationList(
    request: SignRevocationListRequest,
  ): Promise<Buffer> {
    const ca = this.#findCa(request.issuerId);
    const previous = this.#crls.get(ca.id) ?? Promise.resolve();
    const sign = () => this.#signList(request, ca);
    const signed = previous.then(sign, sign);
    this.#crls.set(ca.id, signed);
    return await signed;
  }

  /** {@inheritDoc CertificateSigner.blockKey} */
  async blockKey({
    publicKeySha256,
  }: {
    readonly publicKeySha256: string;
  }): Promise<void> {
    if (!/^[0-9a-f]{64}$/.test(publicKeySha256)) {
      throw new SignerRefusalError(
        'A blocked key must be a SHA-256 hash in lowercase hex.',
      );
    }
    await this.#log.refresh();
    if (!this.#log.state.isBlocked(publicKeySha256)) {
      this.#countRequest(this.#blockTimes, {
        max: MAX_BLOCKS_PER_MINUTE,
        what: 'blocked keys',
      });
      const time = new Date(this.#now());
      await this.#log.append({ kind: 'block', time, publicKeySha256 });
    }
  }

  /** {@inheritDoc CertificateSigner.loggedCertificates} */
  loggedCertificates(): AsyncIterable<LoggedCertificate> {
    return this.#log.certificates();
  }

  /** {@inheritDoc CertificateSigner.close} */
  async close(): Promise<void> {
    await this.#log.close();
  }

  #findCa(issuerId: IssuerId): CaIssuer {
    const ca = this.#options.issuers.find(({ id }) => id === issuerId);
    if (!ca) {
      throw new SignerRefusalError('The CA is unknown.');
    }
    return ca;
  }

  async #signNew(
    request: SignCertificateRequest,
    spki: Buffer,
  ): Promise<Buffer> {
    const { profiles, publicUrl } = this.#options;
    const ca = this.#findCa(request.issuerId);
    const profile = profiles.get(request.profile);
    if (!profile) {
      throw new SignerRefusalError('The certificate profile is unknown.');
    }
    if (ca !== this.#options.issuers[0]) {
      throw new SignerRefusalError('This CA signs only its CRL.');
    }
    this.#checkKey(spki);
    this.#checkValidity(request, { ca, profile });
    this.#checkRate();
    const certificate = await makeCertificate({
      request,
      spki,
      profile,
      ca,
      urls: documentUrlsOf({ id: ca.id, publicUrl }),
    });
    const time = new Date(this.#now());
    try {
      await this.#log.append({
        kind: 'certificate',
        time,
        request,
        certificate,
      });
    } catch (error) {
      this.#unlogged.add(time.getTime());
      throw error;
    }
    return certificate;
  }

  #checkKey(spki: Buffer): void {
    if (this.#caKeys.has(spki.toString('hex'))) {
      throw new SignerRefusalError(
        'The public key belongs to a certificate authority.',
      );
    }
    const sha256 = createHash('sha256').update(spki).digest('hex');
    if (this.#log.state.isBlocked(sha256)) {
      throw new SignerRefusalError('The public key is blocked.');
    }
  }

  #checkValidity(
    { notBefore, notAfter }: SignCertificateRequest,
    limits: { readonly ca: CaIssuer; readonly profile: CertificateProfile },
  ): void {
    const { certificate } = limits.ca.issuer;
    const { validityMs } = limits.profile;
    const [start, end] = [notBefore.getTime(), notAfter.getTime()];
    const now = this.#now();
    // The caller sets the start up to 5 minutes before the request.
    if (!(end - start <= validityMs + CLOCK_SKEW_MS)) {
      throw new SignerRefusalError(
        'The validity is longer than that of the certificate profile.',
      );
    }
    if (!(start >= now - MAX_BACKDATING_MS && start <= now + CLOCK_SKEW_MS)) {
      throw new SignerRefusalError(
        'The validity does not start now: check the clocks.',
      );
    }
    if (start < certificate.notBefore || end > certificate.notAfter) {
      throw new SignerRefusalError(
        "The validity is not within that of the CA's certificate.",
      );
    }
  }

  /** Counts logged certificates, and signed ones that are not (yet) logged. */
  #checkRate(): void {
    const { certificates, perMs } = this.#options.limit ?? DEFAULT_LIMIT;
    const since = this.#now() - perMs;
    const signed =
      this.#log.state.countSince(since) + this.#unlogged.countSince(since);
    if (signed + this.#running.size >= certificates) {
      throw new SignerLimitError(
        `More than ${certificates} certificates were requested in ${
          perMs / 1000
        } seconds`,
      );
    }
  }

  /** Counts a request before it is signed, because logging it can fail. */
  #countRequest(
    times: RecentTimes,
    limit: { readonly max: number; readonly what: string },
  ): void {
    const now = this.#now();
    if (times.countSince(now - MINUTE_MS) >= limit.max) {
      throw new SignerLimitError(
        `More than ${limit.max} ${limit.what} were requested in 60 seconds`,
      );
    }
    times.add(now);
  }

  async #readLogged(options: {
    readonly request: SignCertificateRequest;
    readonly spki: Buffer;
    readonly logged: CertificatePlace;
  }): Promise<Buffer> {
    const entry = await this.#log.read(options.logged);
    if (entry.kind !== 'certificate') {
      throw new SignerUnavailableError('The issuance log was changed');
    }
    const { request, certificate } = entry;
    requireSameRequest(options, { request, spki: publicKeyOf(certificate) });
    return certificate;
  }

  async #signList(
    request: SignRevocationListRequest,
    ca: CaIssuer,
  ): Promise<Buffer> {
    await this.#log.refresh();
    const previous = this.#log.state.crlOf(ca.id);
    this.#checkList(request, previous);
    this.#countRequest(this.#crlTimes, {
      max: MAX_CRLS_PER_MINUTE,
      what: 'CRLs',
    });
    const { number, thisUpdate, nextUpdate, revoked } = request;
    const crl = await signedCrl(
      ca.issuer.signRevocationList({
        number,
        thisUpdate,
        nextUpdate,
        revoked,
      }),
    );
    await this.#log.append({
      kind: 'crl',
      time: new Date(this.#now()),
      issuerId: ca.id,
      number,
      sha256: createHash('sha256').update(crl).digest('hex'),
      ...changesOf(revoked, previous),
    });
    return crl;
  }

  #checkList(request: SignRevocationListRequest, previous: CrlState): void {
    if (request.number <= previous.number) {
      throw new SignerRefusalError(
        `The CRL number must be greater than ${previous.number}.`,
      );
    }
    const maxNumber = previous.number + MAX_CRL_NUMBER_STEP;
    if (request.number > maxNumber) {
      throw new SignerRefusalError(
        `The CRL number must be at most ${maxNumber}.`,
      );
    }
    const now = this.#now();
    const start = request.thisUpdate.getTime();
    if (!(start >= now - MAX_BACKDATING_MS && start <= now + CLOCK_SKEW_MS)) {
      throw new SignerRefusalError(
        'The CRL does not start now: check the clocks.',
      );
    }
    if (!(request.nextUpdate.getTime() - start <= MAX_CRL_VALIDITY_MS)) {
      throw new SignerRefusalError('The CRL is valid for more than 31 days.');
    }
    const listed = new Map(
      request.revoked.map(entry => [String(entry.serialNumber), entry]),
    );
    if (listed.size < request.revoked.length) {
      throw new SignerRefusalError(
        'The CRL contains a certificate more than once.',
      );
    }
    for (const { reason } of request.revoked) {
      if (reason === 'removeFromCRL') {
        throw new SignerRefusalError(
          'The reason removeFromCRL is allowed only in delta CRLs.',
        );
      }
    }
    for (const entry of previous.entries.values()) {
      this.#checkKept(entry, {
        next: listed.get(String(entry.serialNumber)),
        isListed: entry.isListed,
        thisUpdate: request.thisUpdate,
      });
    }
  }

  /**
   * Checks that the next CRL keeps a revocation. A revocation is permanent: its
   * entry stays until the certificate has expired (RFC 5280 §3.3), and cannot
   * become a hold, which could be released. Its date and reason do not change,
   * except that the reason may become keyCompromise later.
   *
   * The expiry of a certificate that is not in the log is unknown, for example
   * because a part of the log was lost. The CRL may omit such an entry: a
   * caller could remove it early, but if it were required forever, no CRL could
   * be signed after the certificate has expired.
   */
  #checkKept(
    { serialNumber, reason, revokedAt }: ListedRevocation,
    crl: {
      readonly next: RevokedCertificate | undefined;
      readonly isListed: boolean;
      readonly thisUpdate: Date;
    },
  ): void {
    const { next, isListed, thisUpdate } = crl;
    if (reason === 'certificateHold') {
      return;
    }
    if (next?.reason === 'certificateHold') {
      throw new SignerRefusalError(
        `Certificate ${serialNumber} is revoked and cannot be put on hold.`,
      );
    }
    if (
      next &&
      isListed &&
      (next.revokedAt.getTime() !== revokedAt.getTime() ||
        ![reason, 'keyCompromise'].includes(next.reason ?? 'unspecified'))
    ) {
      throw new SignerRefusalError(
        `Certificate ${serialNumber} is revoked: the CRL must contain it with the same date, and the same reason or keyCompromise.`,
      );
    }
    if (!next && isListed) {
      const place = this.#log.state.findCertificate(serialNumber);
      if (place && place.notAfter >= thisUpdate) {
        throw new SignerRefusalError(
          `Certificate ${serialNumber} is revoked and has not expired: the CRL must contain it.`,
        );
      }
    }
  }
}

/** @throws SignerRefusalError when the CSR, a name or the list of names is too long. */
function requireLimits({
  csr,
  alternativeNames,
}: SignCertificateRequest): void {
  if (csr.length > MAX_CSR_BYTES) {
    throw new SignerRefusalError(
      `The CSR is longer than ${MAX_CSR_BYTES} bytes (DER).`,
    );
  }
  const { emails, userPrincipalNames, kerberosPrincipalNames } =
    alternativeNames;
  const names = [...emails, ...userPrincipalNames, ...kerberosPrincipalNames];
  if (
    names.length > MAX_NAMES ||
    names.some(({ length }) => length > MAX_NAME_LENGTH)
  ) {
    throw new SignerRefusalError(
      `The request has more than ${MAX_NAMES} alternative names, or one longer than ${MAX_NAME_LENGTH} characters.`,
    );
  }
}

/**
 * Returns the key of the CSR: SubjectPublicKeyInfo, DER.
 *
 * @throws SignerRefusalError when the CSR does not prove possession of the key.
 */
function verifyPossession({ csr }: SignCertificateRequest): Buffer {
  const result = readCertificateRequest(csr);
  if (!result.ok) {
    throw new SignerRefusalError(`The CSR is invalid: ${result.message}`);
  }
  return result.csr.publicKey.spki;
}

/**
 * Requires a serial number to be used for one certificate only. A repeated
 * request has the same content, but its CSR may have been signed again.
 */
function requireSameRequest(
  repeated: { readonly request: SignCertificateRequest; readonly spki: Buffer },
  first: { readonly request: SignCertificateRequest; readonly spki: Buffer },
): void {
  if (contentOf(repeated) !== contentOf(first)) {
    throw new SignerRefusalError(
      'The serial number was used for another request.',
    );
  }
}

function contentOf(repeated: {
  readonly request: SignCertificateRequest;
  readonly spki: Buffer;
}): string {
  const { request, spki } = repeated;
  const { alternativeNames: names } = request;
  return JSON.stringify([
    request.issuerId,
    request.profile,
    request.username,
    spki.toString('hex'),
    names.emails,
    names.userPrincipalNames,
    names.kerberosPrincipalNames,
    request.notBefore,
    request.notAfter,
  ]);
}

async function signedCrl(crl: Promise<Buffer>): Promise<Buffer> {
  try {
    return await crl;
  } catch (error) {
    if (error instanceof RangeError) {
      throw new SignerRefusalError(
        `The CRL cannot be written: ${error.message}.`,
      );
    }
    throw error instanceof SignerUnavailableError
      ? error
      : new SignerUnavailableError('The CRL was not signed', error);
  }
}

/** Returns the entries that a CRL adds to the previous one and removes from it. */
function changesOf(
  revoked: readonly RevokedCertificate[],
  previous: CrlState,
): {
  readonly added: readonly ListedRevocation[];
  readonly removed: readonly bigint[];
} {
  const serialNumbers = new Set(
    revoked.map(({ serialNumber }) => String(serialNumber)),
  );
  return {
    added: revoked
      .map(({ serialNumber, revokedAt, reason = 'unspecified' }) => ({
        serialNumber,
        reason,
        revokedAt,
      }))
      .filter(entry => {
        const before = previous.entries.get(String(entry.serialNumber));
        return (
          !before?.isListed ||
          before.reason !== entry.reason ||
          before.revokedAt.getTime() !== entry.revokedAt.getTime()
        );
      }),
    removed: [...previous.entries.values()]
      .filter(
        ({ serialNumber, isListed }) =>
          isListed && !serialNumbers.has(String(serialNumber)),
      )
      .map(({ serialNumber }) => serialNumber),
  };
}
