import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  AuthorityMetrics,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type BlockedKey,
  type CertificateAuthority,
  type CertificatesQuery,
  type ExpiringCertificate,
  type ExpiringQuery,
  type HoldRequest,
  type IssuedCertificate,
  OutcomeUnknownError,
  type ReleaseRequest,
  type RevocationRequest,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  type CertificateProfile,
  type IssuerDescription,
  SignerRefusalError,
} from '@directory-gateway/ca';
import { Certificate, REVOCATION_REASONS } from '@directory-gateway/x509';
import { createHash } from 'node:crypto';
import type {
  CertificateRecord,
  CertificateStore,
  IssuedRecord,
} from './certificates/CertificateStore';
import { validityOf } from './certificates/validity';
import type { AvailableSigner, Issuers } from './issuers/Issuers';
import type { RevocationLists } from './revocation/RevocationLists';

/** Options of {@link EmbeddedAuthority}. */
export interface EmbeddedAuthorityOptions {
  readonly issuers: Issuers;
  readonly certificates: CertificateStore;
  readonly lists: RevocationLists;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** Name of the CA in API responses. */
  readonly cacn: string;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Issues certificates with a signer: reserves the serial number, signs, records
 * and returns the certificate. The signer checks and logs every certificate,
 * and returns the logged certificate for a repeated request. A crash at any
 * point therefore neither returns an unrecorded certificate nor loses a
 * returned one. A repeated request takes over a serial number that was only
 * reserved.
 */
export class EmbeddedAuthority implements CertificateAuthority {
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  readonly #options: EmbeddedAuthorityOptions;
  readonly #metrics = new AuthorityMetrics('embedded');
  readonly #now: () => number;

  constructor(options: EmbeddedAuthorityOptions) {
    this.#options = options;
    this.profiles = options.profiles;
    this.#now = options.now ?? Date.now;
  }

  async sign(request: SigningRequest): Promise<IssuedCertificate> {
    const { issued } = await this.#metrics.measure(
      'sign',
      () => this.#sign(request),
      ({ isRepeated }) => (isRepeated ? 'repeated' : 'success'),
    );
    return issued;
  }

  async get(serialNumber: bigint): Promise<IssuedCertificate | undefined> {
    const { certificates } = this.#options;
    const record = await available(() => certificates.find(serialNumber));
    return record && this.#present(record);
  }

  async revoke(
    request: RevocationRequest,
  ): Promise<IssuedCertificate | undefined> {
    return await this.#metrics.measure('revoke', async () => {
      await available(() => this.#options.lists.revoke(request));
      return await this.get(request.serialNumber);
    });
  }

  async hold(request: HoldRequest): Promise<IssuedCertificate | undefined> {
    return await this.#metrics.measure('hold', async () => {
      await available(() => this.#options.lists.hold(request));
      return await this.get(request.serialNumber);
    });
  }

  async release(
    request: ReleaseRequest,
  ): Promise<IssuedCertificate | undefined> {
    return await this.#metrics.measure('release', async () => {
      await available(() => this.#options.lists.release(request));
      return await this.get(request.serialNumber);
    });
  }

  async blockKey(request: BlockedKey): Promise<void> {
    await this.#metrics.measure(
      'block_key',
      async () => {
        const { signer } = await this.#options.issuers.require();
        try {
          await signer.blockKey(request);
        } catch (error) {
          this.#options.issuers.reportFailure(error);
          throw new AuthorityUnavailableError('The key was not blocked', error);
        }
      },
      () => 'success',
    );
  }

  async listByUsers({
    usernames,
    which,
  }: CertificatesQuery): Promise<ReadonlyMap<string, IssuedCertificate[]>> {
    const { certificates } = this.#options;
    const usableAt = which === 'usable' ? new Date(this.#now()) : undefined;
    const records = await available(() =>
      certificates.listByUsers({ usernames, usableAt }),
    );
    const byUser = new Map<string, IssuedCertificate[]>();
    for (const record of records) {
      const ofUser = byUser.get(record.username) ?? [];
      ofUser.push(this.#present(record));
      byUser.set(record.username, ofUser);
    }
    return byUser;
  }

  async listExpiring(
    query: ExpiringQuery,
  ): Promise<readonly ExpiringCertificate[]> {
    const { certificates } = this.#options;
    return await available(() => certificates.listExpiring(query));
  }

  async #sign(request: SigningRequest): Promise<{
    readonly issued: IssuedCertificate;
    readonly isRepeated: boolean;
  }> {
    const { issuers, certificates, profiles } = this.#options;
    const profile = profiles.get(request.profile);
    if (!profile) {
      throw new AuthorityRefusalError('There is no such certificate profile.');
    }
    const signer = await issuers.require();
    const [issuer] = signer.issuers;
    const now = this.#now();
    const reserved = await available(() =>
      certificates.reserve({
        issuerId: issuer.id,
        requestKey: deduplicationKey(request, issuer),
        username: request.username,
        profile: request.profile,
        requestedBy: request.requestedBy,
        now,
        ...validityOf({
          validityMs: profile.validityMs,
          issuer: signer.validity,
          now,
        }),
      }),
    );
    const certificate =
      reserved.certificate ??
      (await this.#complete(request, { reserved, ...signer }));
    return {
      issued: this.#present({
        ...reserved,
        certificate,
        issuerChain: issuer.chain,
      }),
      isRepeated: reserved.certificate !== undefined,
    };
  }

  /** Signs and records the certificate of a reserved serial number. */
  async #complete(
    { csr, alternativeNames }: SigningRequest,
    options: AvailableSigner & { readonly reserved: CertificateRecord },
  ): Promise<Certificate> {
    const { certificates, issuers, logger } = this.#options;
    const { reserved, signer } = options;
    const { serialNumber } = reserved;
    let certificate: Certificate;
    try {
      certificate = new Certificate(
        await signer.signCertificate({
          issuerId: options.issuers[0].id,
          serialNumber,
          profile: reserved.profile,
          username: reserved.username,
          csr,
          alternativeNames,
          notBefore: reserved.notBefore,
          notAfter: reserved.notAfter,
          requestedBy: reserved.requestedBy,
        }),
      );
    } catch (error) {
      logger.warn(`Certificate ${serialNumber} was not issued: ${error}`);
      if (error instanceof SignerRefusalError) {
        await available(() => certificates.release(serialNumber));
        throw new AuthorityRefusalError(error.message);
      }
      // The reservation stays: if the certificate was logged, the repeated
      // request receives it.
      issuers.reportFailure(error);
      throw new AuthorityUnavailableError('The signer is not available', error);
    }
    try {
      return await certificates.record(serialNumber, certificate);
    } catch (error) {
      // A repeated request within a minute returns it if it was recorded.
      throw new OutcomeUnknownError(
        `Certificate ${serialNumber} was signed, but the database did not confirm the record`,
        error,
      );
    }
  }

  #present(record: IssuedRecord): IssuedCertificate {
    const { certificate, issuerChain, revocation, username } = record;
    return {
      certificate,
      chain: [certificate.der, ...issuerChain],
      cacn: this.#options.cacn,
      ...(revocation && {
        revocation: {
          reason: REVOCATION_REASONS[revocation.reason],
          revokedAt: revocation.revokedAt,
        },
      }),
      owners: [username],
    };
  }
}

/**
 * Reports a database error as unavailable, not as the caller's error or a
 * missing record.
 */
async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AuthorityUnavailableError('The database is not available', error);
  }
}

/**
 * Returns a value that a request shares with its repetitions: a hash of the
 * issuer, the user, the profile, the key and the names. A client that has not
 * received the response sends the same request again; a request for other names
 * is for another certificate.
 *
 * @returns SHA-256, lowercase hex
 */
function deduplicationKey(
  request: SigningRequest,
  { id }: IssuerDescription,
): string {
  const { emails, userPrincipalNames, kerberosPrincipalNames } =
    request.alternativeNames;
  const identity = JSON.stringify([
    id,
    request.username,
    request.profile,
    request.publicKey.toString('base64'),
    emails,
    userPrincipalNames,
    kerberosPrincipalNames,
  ]);
  return createHash('sha256').update(identity).digest('hex');
}
