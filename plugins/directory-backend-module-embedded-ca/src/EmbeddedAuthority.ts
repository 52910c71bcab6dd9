import type { LoggerService } from '@backstage/backend-plugin-api';
import {
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
import { REVOCATION_REASONS } from '@directory-gateway/x509';
import type { CurrentAuthority } from './authority/CurrentAuthority';
import type {
  CertificateStore,
  IssuedRecord,
} from './certificates/CertificateStore';
import type { CertificateProfile } from './certificates/CertificateProfile';
import {
  type CertificateInput,
  makeCertificate,
  validityOf,
} from './certificates/makeCertificate';
import type { Revoker } from './revocation/RevocationLists';
import { type KeyObject, createHash, createPublicKey } from 'node:crypto';
import type { SigningAuthority } from './authority/SigningAuthority';
import { metrics } from '@opentelemetry/api';
import { isError } from '@backstage/errors';

const OUTCOMES: Readonly<Record<string, SigningOutcome>> = {
  AuthorityRefusalError: 'refused',
  AuthorityUnavailableError: 'unavailable',
  OutcomeUnknownError: 'unknown',
};

/** Times the signing. For whom, and with which key, is no attribute. */
export class SigningMetrics {
  readonly #durations = metrics
    .getMeter('directory')
    .createHistogram('directory.ca.embedded.sign.duration', {
      description:
        'Duration of signing a certificate, from the request to its record',
      unit: 's',
      advice: {
        explicitBucketBoundaries: [
          0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
        ],
      },
    });

  /** Runs the work, which says whether it issued or repeated, and records it. */
  async time<T extends { readonly outcome: 'issued' | 'repeated' }>(
    work: () => Promise<T>,
  ): Promise<T> {
    const startedAt = performance.now();
    const record = (outcome: SigningOutcome) =>
      this.#durations.record((performance.now() - startedAt) / 1000, {
        outcome,
      });
    try {
      const answer = await work();
      record(answer.outcome);
      return answer;
    } catch (error) {
      record((isError(error) && OUTCOMES[error.name]) || 'error');
      throw error;
    }
  }
}

/** What an {@link EmbeddedAuthority} is made of. */
export interface EmbeddedAuthorityOptions {
  readonly keeper: CurrentAuthority;
  readonly certificates: CertificateStore;
  readonly revoker: Revoker;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** Its name in answers. */
  readonly cacn: string;
  /** Where its revocation list is. */
  readonly crlUrl: string;
  readonly logger: LoggerService;
  /** Milliseconds since 1970. Default: the machine's clock. */
  readonly now?: () => number;
}

/**
 * Signs with its own key, and has what it signed on record: reserve the serial
 * number, sign, check, record, answer. The answer is what is on record, so a
 * crash anywhere returns no certificate that is not on record, and loses none
 * that was returned. A serial number that stays reserved is taken over when the
 * request is repeated.
 */
export class EmbeddedAuthority implements CertificateAuthority {
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  readonly #options: EmbeddedAuthorityOptions;
  readonly #metrics = new SigningMetrics();
  readonly #now: () => number;

  constructor(options: EmbeddedAuthorityOptions) {
    this.#options = options;
    this.profiles = options.profiles;
    this.#now = options.now ?? Date.now;
  }

  async sign(request: SigningRequest): Promise<IssuedCertificate> {
    const { issued } = await this.#metrics.time(() => this.#sign(request));
    return issued;
  }

  async get(serialNumber: bigint): Promise<IssuedCertificate | undefined> {
    const { certificates } = this.#options;
    const record = await available(() => certificates.find(serialNumber));
    return record && this.#present(record);
  }

  async revoke(order: RevocationRequest): Promise<IssuedCertificate | undefined> {
    await available(() => this.#options.revoker.revoke(order));
    return await this.get(order.serialNumber);
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
      const own = byUser.get(record.username) ?? [];
      own.push(this.#present(record));
      byUser.set(record.username, own);
    }
    return byUser;
  }

  async listExpiring(query: ExpiringQuery): Promise<readonly ExpiringCertificate[]> {
    const { certificates } = this.#options;
    return await available(() => certificates.listExpiring(query));
  }

  async #sign(request: SigningRequest): Promise<{
    readonly outcome: 'issued' | 'repeated';
    readonly issued: IssuedCertificate;
  }> {
    const { keeper, certificates, profiles } = this.#options;
    const profile = profiles.get(request.profile);
    if (!profile) {
      throw new AuthorityRefusalError('There is no such certificate profile.');
    }
    const authority = keeper.current;
    rejectOwnKey(request, authority);
    const now = this.#now();
    const reserved = await available(() =>
      certificates.reserve({
        authorityId: authority.id,
        requestKey: deduplicationKey(request, { authorityId: authority.id }),
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
      outcome: reserved.certificate ? 'repeated' : 'issued',
      issued: this.#present({
        ...reserved,
        certificate,
        authorityChain: authority.chain,
      }),
    };
  }

  /** Makes the certificate of a reserved serial number, and records it. */
  async #complete(order: CertificateInput): Promise<Buffer> {
    const { certificates, crlUrl, logger } = this.#options;
    const { serialNumber } = order.reserved;
    let certificate: Buffer;
    try {
      certificate = makeCertificate({ ...order, crlUrl });
    } catch (error) {
      logger.warn(`Certificate ${serialNumber} is not made: ${error}`);
      await available(() => certificates.release(serialNumber));
      throw error;
    }
    try {
      return await certificates.record(serialNumber, certificate);
    } catch (error) {
      // It may be on record: the same request within a minute gets it then.
      throw new OutcomeUnknownError(
        `Certificate ${serialNumber} was signed, and the database did not say that it has it`,
        error,
      );
    }
  }

  #present(record: IssuedRecord): IssuedCertificate {
    const { certificate, authorityChain, revocation, username } = record;
    return {
      certificate,
      chain: [certificate, ...authorityChain],
      cacn: this.#options.cacn,
      ...(revocation && {
        revocation: { reason: REVOCATION_REASONS[revocation.reason] },
      }),
      owners: [username],
    };
  }
}

/** The database away is not the caller's fault, and says nothing about a record. */
async function available<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AuthorityUnavailableError('The database cannot be asked', error);
  }
}

/**
 * Refuses to certify the authority's own key: whoever could sign a CSR with it
 * would have it. Keys are compared, not their encodings.
 *
 * @throws AuthorityRefusalError
 */
export function rejectOwnKey(
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
    // What OpenSSL says about it tells the caller nothing.
    throw new AuthorityRefusalError('The public key cannot be read.');
  }
}

/**
 * What a request has in common with its repetition: the authority, the user,
 * the profile, the key and the names. A client whose answer was lost sends the
 * same again; one that asks for other names wants another certificate.
 *
 * @returns SHA-256, lower-case hex
 */
export function deduplicationKey(
  request: SigningRequest,
  options: { readonly authorityId: string },
): string {
  const { emails, userPrincipalNames, kerberosPrincipalNames } =
    request.alternativeNames;
  // JSON keeps apart what a separator would not.
  const identity = JSON.stringify([
    options.authorityId,
    request.username,
    request.profile,
    request.publicKey.toString('base64'),
    emails,
    userPrincipalNames,
    kerberosPrincipalNames,
  ]);
  return createHash('sha256').update(identity).digest('hex');
}

/** What became of a request; the values of the attribute `outcome`. */
export type SigningOutcome =
  | 'issued'
  /** A request was repeated, and got what was on record. */
  | 'repeated'
  | 'refused'
  | 'unavailable'
  | 'unknown'
  | 'error';
