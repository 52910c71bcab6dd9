import {
  AuthorityMetrics,
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  type HoldRequest,
  type ReleaseRequest,
  type Revocation,
  type RevocationRecords,
  type RevocationRequest,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import {
  Certificate,
  type Issuer,
  REVOCATION_REASONS,
} from '@directory-gateway/x509';
import { X509Certificate } from 'node:crypto';
import type { CaIssuer } from './CaIssuer';
import { composeCertificate } from './composeCertificate';
import type { CertificateProfile } from './profiles';
import type { RecordedIssuers } from './RecordedIssuers';
import type { RevocationLists } from './RevocationLists';

/** Options of {@link EmbeddedAuthority}. */
export interface EmbeddedAuthorityOptions {
  /** Name of the CA in API responses. */
  readonly cacn: string;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  /** The first one signs certificates. */
  readonly issuers: readonly CaIssuer[];
  readonly recorded: RecordedIssuers;
  readonly revocations: RevocationRecords;
  readonly lists: RevocationLists;
  /** URL below which certificates and CRLs of issuers are published. */
  readonly publicUrl: string;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
}

/**
 * Signs certificates with a key in this process, and CRLs from the gateway's
 * records of revocations.
 */
export class EmbeddedAuthority implements CertificateAuthority {
  readonly cacn: string;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  readonly #options: EmbeddedAuthorityOptions;
  readonly #metrics = new AuthorityMetrics('embedded');
  readonly #now: () => number;
  /** Keys of the CAs and their issuers, SubjectPublicKeyInfo in base64. */
  readonly #caKeys: ReadonlySet<string>;

  constructor(options: EmbeddedAuthorityOptions) {
    this.#options = options;
    this.cacn = options.cacn;
    this.profiles = options.profiles;
    this.#now = options.now ?? Date.now;
    this.#caKeys = new Set(
      options.issuers.flatMap(({ chain }) =>
        chain.map(der =>
          new X509Certificate(der).publicKey
            .export({ type: 'spki', format: 'der' })
            .toString('base64'),
        ),
      ),
    );
  }

  async sign(request: SigningRequest): Promise<SignedCertificate> {
    return await this.#metrics.measure('sign', () => this.#sign(request));
  }

  async revoke(request: RevocationRequest): Promise<Revocation | undefined> {
    const reason = REVOCATION_REASONS[request.reason];
    return await this.#metrics.measure('revoke', () =>
      this.#record(request.serialNumber, reason, request.revokedBy),
    );
  }

  async hold(request: HoldRequest): Promise<Revocation | undefined> {
    const reason = REVOCATION_REASONS.certificateHold;
    return await this.#metrics.measure('hold', () =>
      this.#record(request.serialNumber, reason, request.heldBy),
    );
  }

  async release(request: ReleaseRequest): Promise<Revocation | undefined> {
    return await this.#metrics.measure('release', () =>
      this.#record(request.serialNumber, undefined, request.releasedBy),
    );
  }

  async #sign(request: SigningRequest): Promise<SignedCertificate> {
    const { issuers, profiles, publicUrl } = this.#options;
    const profile = profiles.get(request.profile);
    if (!profile) {
      throw new AuthorityRefusalError('There is no such certificate profile.');
    }
    if (this.#caKeys.has(request.publicKey.toString('base64'))) {
      throw new AuthorityRefusalError(
        'The public key belongs to a certificate authority.',
      );
    }
    const [issuer] = issuers;
    await issuer.openKey();
    const fields = composeCertificate(request, {
      issuer,
      profile,
      baseUrl: `${publicUrl}/ca/${issuer.name}`,
      now: this.#now(),
    });
    const der = await signFields(issuer.issuer!, fields);
    return { certificate: new Certificate(der), chain: [der, ...issuer.chain] };
  }

  /**
   * Records a revocation or a hold, or the end of a hold, and signs a CRL with
   * it.
   */
  async #record(
    serialNumber: bigint,
    reason: number | undefined,
    by: string,
  ): Promise<Revocation | undefined> {
    const { issuers, recorded, revocations, lists } = this.#options;
    const id = await revocations.findIssuer(serialNumber);
    if (id === undefined) {
      return undefined;
    }
    const issuer = issuers.find(each => each.id === id);
    if (!issuer?.issuer) {
      throw new AuthorityRefusalError(
        'The CA that issued this certificate has no key in this portal any more: its certificates cannot be revoked, put on hold or released.',
        { kind: 'forbidden' },
      );
    }
    const revokedAt = new Date(Math.floor(this.#now() / 1000) * 1000);
    const change = reason === undefined ? undefined : { reason, revokedAt };
    await recorded.updateOldRow(serialNumber, change && { ...change, by });
    const state = await revocations.set(serialNumber, change);
    await lists.renewAfterChange(issuer);
    return state?.revocation;
  }
}

async function signFields(
  issuer: Issuer,
  fields: ReturnType<typeof composeCertificate>,
): Promise<Buffer> {
  try {
    return await issuer.signCertificate(fields);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new AuthorityRefusalError(
        `The certificate cannot be written: ${error.message}.`,
      );
    }
    throw new AuthorityUnavailableError(
      'The certificate was not signed',
      error,
    );
  }
}
