import type { LoggerService } from '@backstage/backend-plugin-api';
import {
  AuthorityMetrics,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  type CertificatesQuery,
  type ExpiringCertificate,
  type ExpiringQuery,
  type IssuedCertificate,
  OutcomeUnknownError,
  type RevocationRequest,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { type Certificate, REVOCATION_REASONS } from '@directory-gateway/x509';
import { type KeyObject, createHash, createPublicKey } from 'node:crypto';
import type { CurrentAuthority } from './authority/CurrentAuthority';
import type { SigningAuthority } from './authority/SigningAuthority';
import type { CertificateProfile } from './certificates/CertificateProfile';
import type {
  CertificateStore,
  IssuedRecord,
} from './certificates/CertificateStore';
import {
  type CertificateInput,
  makeCertificate,
  validityOf,
} from './certificates/makeCertificate';
import type { RevocationLists } from './revocation/RevocationLists';

/** Options of {@link EmbeddedAuthority}. */
export interface EmbeddedAuthorityOptions {
  readonly currentAuthority: CurrentAuthority;
  readonly certificates: CertificateStore;
  readonly lists: RevocationLists;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** Name of the CA in API responses. */
  readonly cacn: string;
  /** URL of the CRL. */
  readonly crlUrl: string;
  readonly logger: LoggerService;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Signs certificates with its own key: reserve the serial number, sign, check,
 * record, return. The result is the recorded certificate, so that a crash at any
 * point returns no certificate that is not recorded and loses none that was
 * returned. A repeated request takes over a serial number that is only reserved.
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
    await available(() => this.#options.lists.revoke(request));
    return await this.get(request.serialNumber);
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
    const { currentAuthority, certificates, profiles } = this.#options;
    const profile = profiles.get(request.profile);
    if (!profile) {
      throw new AuthorityRefusalError('There is no such certificate profile.');
    }
    const authority = currentAuthority.get();
    rejectOwnKey(request, authority);
    const now = this.#now();
    const reserved = await available(() =>
      certificates.reserve({
        authorityId: authority.id,
        requestKey: deduplicationKey(request, authority),
        username: request.username,
        profile: request.profile,
        requestedBy: request.requestedBy,
        now,
        ...validityOf(profile, { now, authority }),
      }),
    );
    const certificate =
      reserved.certificate ??
      (await this.#complete({ request, profile, authority, reserved }));
    return {
      issued: this.#present({
        ...reserved,
        certificate,
        authorityChain: authority.chain,
      }),
      isRepeated: reserved.certificate !== undefined,
    };
  }

  /** Makes and records the certificate of a reserved serial number. */
  async #complete(input: CertificateInput): Promise<Certificate> {
    const { certificates, crlUrl, logger } = this.#options;
    const { serialNumber } = input.reserved;
    let certificate: Certificate;
    try {
      certificate = makeCertificate({ ...input, crlUrl });
    } catch (error) {
      logger.warn(`Certificate ${serialNumber} was not issued: ${error}`);
      await available(() => certificates.release(serialNumber));
      throw error;
    }
    try {
      return await certificates.record(serialNumber, certificate);
    } catch (error) {
      // If it was recorded, a repeated request within a minute returns it.
      throw new OutcomeUnknownError(
        `Certificate ${serialNumber} was signed, but the database did not confirm the record`,
        error,
      );
    }
  }

  #present(record: IssuedRecord): IssuedCertificate {
    const { certificate, authorityChain, revocation, username } = record;
    return {
      certificate,
      chain: [certificate.der, ...authorityChain],
      cacn: this.#options.cacn,
      ...(revocation && {
        revocation: { reason: REVOCATION_REASONS[revocation.reason] },
      }),
      owners: [username],
    };
  }
}

/** A database error is not the caller's fault, and not a missing record. */
async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AuthorityUnavailableError('The database is not available', error);
  }
}

/**
 * Rejects requests for the CA's own key. Keys are compared, not their encodings.
 *
 * @throws AuthorityRefusalError
 */
function rejectOwnKey(
  request: SigningRequest,
  authority: SigningAuthority,
): void {
  if (readPublicKey(request.publicKey).equals(authority.publicKey)) {
    throw new AuthorityRefusalError(
      'The public key is that of the certificate authority.',
    );
  }
}

function readPublicKey(key: Buffer): KeyObject {
  try {
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    // OpenSSL's message is not useful to the caller.
    throw new AuthorityRefusalError('The public key cannot be read.');
  }
}

/**
 * Value that a request has in common with its repetitions: the CA, the user, the
 * profile, the key and the names. A client that lost the response sends the same
 * request again; a request for other names is for another certificate.
 *
 * @returns SHA-256, lower-case hex
 */
function deduplicationKey(
  request: SigningRequest,
  { id }: SigningAuthority,
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
