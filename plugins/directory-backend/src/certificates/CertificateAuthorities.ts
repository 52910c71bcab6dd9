import { ConflictError, InputError } from '@backstage/errors';
import type {
  CertificateAuthority,
  CertificatesQuery,
  DirectoryCertificateAuthoritiesExtensionPoint,
  ExpiringCertificate,
  ExpiringQuery,
  IssuedCertificate,
  LookupOptions,
  RevocationRequest,
  SigningRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import { AuthorityRefusalError } from '@directory-gateway/backstage-plugin-directory-node';
import type { CertificatesConfig } from './CertificatesConfig';

/**
 * The registered authorities behind the port: one issues, the listed ones are
 * read in order.
 */
export class CertificateAuthorities
  implements
    CertificateAuthority,
    DirectoryCertificateAuthoritiesExtensionPoint
{
  readonly #byName = new Map<string, CertificateAuthority>();
  #config: CertificatesConfig | undefined;

  addAuthority(name: string, authority: CertificateAuthority): void {
    if (this.#byName.has(name)) {
      throw new ConflictError(`A certificate authority "${name}" is there`);
    }
    this.#byName.set(name, authority);
  }

  /**
   * Settles who issues and who is read, once every module has registered.
   *
   * @throws InputError that names the key whose authority is not there, or the
   *   profile that the issuing authority does not have.
   */
  configure(config: CertificatesConfig): void {
    for (const name of config.read) {
      if (!this.#byName.has(name)) {
        throw new InputError(
          `directory.certificates names the authority "${name}", which no installed and configured module offers`,
        );
      }
    }
    this.#requireProfiles(config);
    this.#config = config;
  }

  /** Every request for another profile would be refused, at the earliest then. */
  #requireProfiles({ authority, profiles }: CertificatesConfig): void {
    const known = this.#get(authority).profiles;
    for (const name of profiles.keys()) {
      if (known && !known.has(name)) {
        throw new InputError(
          `directory.certificates.profiles: the authority "${authority}" has no profile "${name}", only ${[
            ...known.keys(),
          ].join(', ')}`,
        );
      }
    }
  }

  get profiles(): CertificateAuthority['profiles'] {
    return this.#get(this.#config!.authority).profiles;
  }

  sign(request: SigningRequest): Promise<IssuedCertificate> {
    return this.#get(this.#config!.authority).sign(request);
  }

  /** One authority that cannot be asked makes the answer unknown, not "no". */
  async get(
    serialNumber: bigint,
    options?: LookupOptions,
  ): Promise<IssuedCertificate | undefined> {
    for (const name of this.#config?.read ?? []) {
      const certificate = await this.#get(name).get(serialNumber, options);
      if (certificate) {
        return certificate;
      }
    }
    return undefined;
  }

  /**
   * Only the authority that issued it can revoke it.
   *
   * @throws AuthorityRefusalError when that one does not let the gateway do so.
   */
  async revoke(order: RevocationRequest): Promise<IssuedCertificate | undefined> {
    for (const name of this.#config!.read) {
      const authority = this.#get(name);
      if (authority.revoke) {
        const revoked = await authority.revoke(order);
        if (revoked) {
          return revoked;
        }
      } else if (await authority.get(order.serialNumber)) {
        throw new AuthorityRefusalError(
          `The authority "${name}" does not revoke through this gateway.`,
        );
      }
    }
    return undefined;
  }

  async listByUsers(
    query: CertificatesQuery,
  ): Promise<ReadonlyMap<string, readonly IssuedCertificate[]>> {
    const lists = await Promise.all(
      (this.#config?.read ?? []).map(name =>
        this.#get(name).listByUsers?.(query),
      ),
    );
    const all = new Map<string, readonly IssuedCertificate[]>();
    for (const [username, issued] of lists.flatMap(list => [...(list ?? [])])) {
      all.set(username, [...(all.get(username) ?? []), ...issued]);
    }
    return all;
  }

  /** Of all authorities that can tell: one that is away makes it unknown. */
  async listExpiring(query: ExpiringQuery): Promise<readonly ExpiringCertificate[]> {
    const lists = await Promise.all(
      this.#config!.read.map(name => this.#get(name).listExpiring?.(query)),
    );
    return lists.flatMap(list => list ?? []);
  }

  #get(name: string): CertificateAuthority {
    return this.#byName.get(name)!;
  }
}
