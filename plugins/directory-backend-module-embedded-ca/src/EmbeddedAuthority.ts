import {
  AuthorityRefusalError,
  AuthorityUnavailableError,
  type CertificateAuthority,
  type Revocation,
  type RevocationRequest,
  type SignedCertificate,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { Certificate, REVOCATION_REASONS } from '@directory-gateway/x509';
import type { CaIssuer } from './CaIssuer';
import { composeCertificate } from './composeCertificate';
import type { EmbeddedCaConfig } from './config';
import type { CertificateProfile } from './profiles';
import type { RevocationList, RevocationListOptions } from './RevocationList';

interface EmbeddedAuthorityOptions
  extends
    Pick<EmbeddedCaConfig, 'cacn' | 'organization' | 'profiles'>,
    Pick<RevocationListOptions, 'revocations' | 'now'> {
  /** CA that signs certificates. */
  readonly issuer: CaIssuer;
  /** CRLs of the issuers with a key, by the ID of the issuer. */
  readonly lists: ReadonlyMap<string, RevocationList>;
  /** URL below which certificates and CRLs of issuers are published. */
  readonly publicUrl: string;
}

/**
 * Signs certificates with a key in this process, and CRLs from the gateway's
 * records of revocations.
 */
export class EmbeddedAuthority implements CertificateAuthority {
  readonly cacn: string;
  readonly profiles: ReadonlyMap<string, CertificateProfile>;
  readonly #options: EmbeddedAuthorityOptions;
  readonly #now: () => number;

  constructor(options: EmbeddedAuthorityOptions) {
    this.#options = options;
    this.cacn = options.cacn;
    this.profiles = options.profiles;
    this.#now = options.now ?? Date.now;
  }

  async sign(request: SigningRequest): Promise<SignedCertificate> {
    const { issuer, publicUrl } = this.#options;
    const profile = this.profiles.get(request.profile);
    if (!profile) {
      throw new AuthorityRefusalError('There is no such certificate profile.');
    }
    await issuer.openKey();
    const fields = composeCertificate(request, {
      issuer,
      profile,
      organization: this.#options.organization,
      baseUrl: `${publicUrl}/ca/${issuer.name}`,
      now: this.#now(),
    });
    try {
      const der = await issuer.issuer!.signCertificate(fields);
      const chain = [der, ...issuer.chain];
      return { certificate: new Certificate(der), chain };
    } catch (error) {
      throw error instanceof RangeError
        ? new AuthorityRefusalError(
            `The certificate cannot be written: ${error.message}.`,
          )
        : new AuthorityUnavailableError('Signing failed', error);
    }
  }

  async revoke(request: RevocationRequest): Promise<Revocation | undefined> {
    const reason = REVOCATION_REASONS[request.reason];
    return await this.#record(request.serialNumber, reason);
  }

  async hold(serialNumber: bigint): Promise<Revocation | undefined> {
    const reason = REVOCATION_REASONS.certificateHold;
    return await this.#record(serialNumber, reason);
  }

  async release(serialNumber: bigint): Promise<Revocation | undefined> {
    return await this.#record(serialNumber, undefined);
  }

  /** Records a revocation, a hold or the end of a hold, and signs a CRL. */
  async #record(
    serialNumber: bigint,
    reason: number | undefined,
  ): Promise<Revocation | undefined> {
    const { issuer: current, revocations, lists } = this.#options;
    const found = await revocations.findIssuer(serialNumber);
    if (!found) {
      return undefined;
    }
    const { issuer = current.id } = found;
    const list = lists.get(issuer);
    if (!list) {
      throw new AuthorityRefusalError(
        'The portal does not have the key of the CA that issued this certificate, and cannot revoke, hold or release it.',
        { kind: 'forbidden' },
      );
    }
    const revokedAt = new Date(Math.floor(this.#now() / 1000) * 1000);
    const change = reason === undefined ? undefined : { reason, revokedAt };
    const state = await revocations.set(serialNumber, issuer, change);
    await list.renewAfterChange();
    return state;
  }
}
