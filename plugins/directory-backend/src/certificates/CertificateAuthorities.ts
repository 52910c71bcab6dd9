import { ConflictError, InputError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  type BlockedKey,
  type CertificateAuthority,
  type CertificatesQuery,
  type DirectoryCertificateAuthoritiesExtensionPoint,
  type ExpiringCertificate,
  type ExpiringQuery,
  type HoldRequest,
  type IssuedCertificate,
  type LookupOptions,
  type ReleaseRequest,
  type RevocationRequest,
  type SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { REVOCATION_REASONS } from '@directory-gateway/x509';
import type { CertificatesConfig } from './CertificatesConfig';

/** Reason code of a certificate on hold (RFC 5280 §5.3.1). */
export const ON_HOLD = REVOCATION_REASONS.certificateHold;

/**
 * Combines the registered CAs: the configured CA issues, and the listed CAs are
 * read in order.
 */
export class CertificateAuthorities
  implements CertificateAuthority, DirectoryCertificateAuthoritiesExtensionPoint
{
  readonly #byName = new Map<string, CertificateAuthority>();
  #config: CertificatesConfig | undefined;

  addAuthority(name: string, authority: CertificateAuthority): void {
    if (this.#byName.has(name)) {
      throw new ConflictError(
        `The certificate authority "${name}" is already registered`,
      );
    }
    this.#byName.set(name, authority);
  }

  /**
   * Selects the CAs. Must be called after all modules have registered theirs.
   *
   * @throws InputError when a configured CA is not registered, or the issuing
   *   CA does not have a configured profile.
   */
  configure(config: CertificatesConfig): void {
    for (const name of config.read) {
      if (!this.#byName.has(name)) {
        throw new InputError(
          `directory.certificates names the CA "${name}", which no installed and configured module provides`,
        );
      }
    }
    const known = this.#byName.get(config.authority)!.profiles;
    for (const name of config.profiles.keys()) {
      if (known && !known.has(name)) {
        throw new InputError(
          `directory.certificates.profiles: the CA "${
            config.authority
          }" has no profile "${name}", only ${[...known.keys()].join(', ')}`,
        );
      }
    }
    this.#config = config;
  }

  get profiles(): CertificateAuthority['profiles'] {
    return this.#issuing.profiles;
  }

  get requestSignatures(): CertificateAuthority['requestSignatures'] {
    return this.#issuing.requestSignatures;
  }

  sign(request: SigningRequest): Promise<IssuedCertificate> {
    return this.#issuing.sign(request);
  }

  /**
   * Rejects when a CA is not available, rather than resolving with `undefined`.
   */
  async get(
    serialNumber: bigint,
    options?: LookupOptions,
  ): Promise<IssuedCertificate | undefined> {
    for (const authority of this.#readable.values()) {
      const certificate = await authority.get(serialNumber, options);
      if (certificate) {
        return certificate;
      }
    }
    return undefined;
  }

  /**
   * Revokes a certificate with the CA that issued it.
   *
   * @throws AuthorityRefusalError when the CA does not let the gateway revoke.
   * @throws AuthorityProtocolError when the CA returns a certificate that is not
   *   revoked permanently.
   */
  async revoke(
    request: RevocationRequest,
  ): Promise<IssuedCertificate | undefined> {
    for (const [name, authority] of this.#readable) {
      if (authority.revoke) {
        const revoked = await authority.revoke(request);
        if (revoked) {
          const { reason = ON_HOLD } = revoked.revocation ?? {};
          if (reason === ON_HOLD) {
            throw new AuthorityProtocolError(
              `The CA "${name}" did not revoke certificate ${request.serialNumber} permanently`,
            );
          }
          return revoked;
        }
      } else if (await authority.get(request.serialNumber)) {
        throw new AuthorityRefusalError(
          `Certificates issued by the CA "${name}" cannot be revoked through this gateway.`,
        );
      }
    }
    return undefined;
  }

  /** Whether the issuing CA supports holds. */
  get hasHolds(): boolean {
    const { hold, release } = this.#issuing;
    return hold !== undefined && release !== undefined;
  }

  async hold(request: HoldRequest): Promise<IssuedCertificate | undefined> {
    for (const authority of this.#readable.values()) {
      const held = await authority.hold?.(request);
      if (held) {
        return held;
      }
    }
    return undefined;
  }

  async release(
    request: ReleaseRequest,
  ): Promise<IssuedCertificate | undefined> {
    for (const authority of this.#readable.values()) {
      const released = await authority.release?.(request);
      if (released) {
        return released;
      }
    }
    return undefined;
  }

  /** Blocks a key in every CA that supports it. */
  async blockKey(request: BlockedKey): Promise<void> {
    await Promise.all(
      [...this.#readable.values()].map(authority =>
        authority.blockKey?.(request),
      ),
    );
  }

  async listByUsers(
    query: CertificatesQuery,
  ): Promise<ReadonlyMap<string, readonly IssuedCertificate[]>> {
    const lists = await Promise.all(
      [...this.#readable.values()].map(authority =>
        authority.listByUsers?.(query),
      ),
    );
    const all = new Map<string, readonly IssuedCertificate[]>();
    for (const [username, issued] of lists.flatMap(list => [...(list ?? [])])) {
      all.set(username, [...(all.get(username) ?? []), ...issued]);
    }
    return all;
  }

  async listExpiring(
    query: ExpiringQuery,
  ): Promise<readonly ExpiringCertificate[]> {
    const lists = await Promise.all(
      [...this.#readable.values()].map(authority =>
        authority.listExpiring?.(query),
      ),
    );
    return lists.flatMap(list => list ?? []);
  }

  get #issuing(): CertificateAuthority {
    return this.#byName.get(this.#config!.authority)!;
  }

  /** The CAs that are read, in order; empty before `configure`. */
  get #readable(): ReadonlyMap<string, CertificateAuthority> {
    return new Map(
      (this.#config?.read ?? []).map(name => [name, this.#byName.get(name)!]),
    );
  }
}
