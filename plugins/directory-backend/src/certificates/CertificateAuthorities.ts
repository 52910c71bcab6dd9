import { ConflictError, InputError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  type CertificateAuthority,
  type DirectoryCertificateAuthoritiesExtensionPoint,
  type IssuedCertificate,
  type LookupOptions,
  type Revocation,
  type RevocationRecords,
  type RevocationRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { ReplicatedAccounts } from '@directory-gateway/directory-core';
import type { CertificatesConfig } from './CertificatesConfig';
import { CertificateNotFoundError } from './errors';
import { measureAuthority } from './measureAuthority';
import {
  type CertificateKey,
  type CertificateRecord,
  ON_HOLD,
} from './records/certificateRows';
import type { CertificateRecords } from './records/CertificateRecords';

/** A certificate, and what the gateway has recorded about it. */
export type LocatedCertificate = IssuedCertificate & {
  /** Registered name of the CA. */
  readonly authority: string;
  /** `undefined` when it was not issued through the gateway. */
  readonly record?: CertificateRecord;
};

/** What the gateway knows about certificates and their owners. */
export interface GatewayRecords {
  readonly accounts: Pick<ReplicatedAccounts, 'stableIdOf' | 'usernameOf'>;
  readonly records: Pick<
    CertificateRecords,
    'find' | 'revocationsOf' | 'update'
  >;
}

/**
 * The registered CAs: the configured CA issues, and the listed CAs are read in
 * order. The state that a CA returns for a certificate is recorded.
 */
export class CertificateAuthorities implements DirectoryCertificateAuthoritiesExtensionPoint {
  readonly #byName = new Map<string, CertificateAuthority>();
  readonly #opened = Promise.withResolvers<GatewayRecords>();
  #config: CertificatesConfig | undefined;
  #gateway: GatewayRecords | undefined;

  addAuthority(name: string, authority: CertificateAuthority): void {
    if (this.#byName.has(name)) {
      throw new ConflictError(
        `The certificate authority "${name}" is already registered`,
      );
    }
    this.#byName.set(name, measureAuthority(name, authority));
  }

  recordsOf(name: string): RevocationRecords {
    const opened = this.#opened.promise.then(({ records }) =>
      records.revocationsOf(name),
    );
    return {
      findIssuer: async (...args) => (await opened).findIssuer(...args),
      set: async (...args) => (await opened).set(...args),
      list: async (...args) => (await opened).list(...args),
      import: async (...args) => (await opened).import(...args),
    };
  }

  /**
   * Selects the CAs. Must be called after all modules have registered theirs,
   * and the database was migrated.
   *
   * @throws InputError when a configured CA is not registered, or the issuing
   *   CA does not have a configured profile.
   */
  configure(config: CertificatesConfig, gateway: GatewayRecords): void {
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
    this.#gateway = gateway;
    this.#opened.resolve(gateway);
  }

  /** The CA that issues. */
  get issuing(): CertificateAuthority {
    return this.#byName.get(this.#config!.authority)!;
  }

  /** Names of the CAs whose certificates only the gateway's records list. */
  get recorded(): readonly string[] {
    return (this.#config?.read ?? []).filter(
      name => !this.#byName.get(name)!.get,
    );
  }

  /**
   * Returns a certificate with its state: from the CA if it can look up
   * certificates, otherwise from the records. Rejects when a CA is not
   * available, rather than resolving with `undefined`.
   *
   * @param options - `authority`: registered name of its CA. Default: the first
   *   one that has a certificate with the serial number
   */
  async get(
    serialNumber: bigint,
    options: LookupOptions & { readonly authority?: string } = {},
  ): Promise<LocatedCertificate | undefined> {
    const { authority: only, ...lookup } = options;
    if (!this.#config) {
      return undefined;
    }
    const records = await this.#gateway!.records.find(serialNumber);
    const read = this.#config.read.filter(each => each === (only ?? each));
    const name = read.find(each =>
      records.some(({ authority }) => authority === each),
    );
    const record = records.find(({ authority }) => authority === name);
    if (record && !this.#byName.get(name!)!.get) {
      return this.present(record);
    }
    for (const authority of name === undefined ? read : [name]) {
      const issued = await this.#byName
        .get(authority)!
        .get?.(serialNumber, lookup);
      if (issued) {
        const own = isOf(record, issued) ? record : undefined;
        await (own && this.#synchronize(own, issued));
        const owners = own ? this.#ownersOf(own) : issued.owners;
        return { ...issued, owners, record: own, authority };
      }
    }
    return undefined;
  }

  /** Returns a certificate as recorded; `undefined` when only the CA has it. */
  present(record: CertificateRecord): LocatedCertificate | undefined {
    const { authority, certificate, issuers, revocation } = record;
    return (
      certificate && {
        certificate,
        chain: [certificate.der, ...issuers],
        cacn: this.#byName.get(authority)?.cacn ?? authority,
        revocation,
        owners: this.#ownersOf(record),
        authority,
        record,
      }
    );
  }

  /**
   * Returns the present name of the owner. For an account that is not served:
   * the name at the time of issuance, unless another account has it now.
   */
  #ownersOf({ subjectId, username }: CertificateRecord): readonly string[] {
    const { accounts } = this.#gateway!;
    const name =
      subjectId === undefined ? username : accounts.usernameOf(subjectId);
    if (name !== undefined) {
      return [name];
    }
    return accounts.stableIdOf(username) === undefined ? [username] : [];
  }

  /**
   * Revokes a certificate of a CA. A revoked certificate keeps its reason, also
   * if only the gateway knows it.
   *
   * @throws AuthorityRefusalError when the CA does not let the gateway revoke.
   * @throws CertificateNotFoundError when the CA does not find the certificate.
   * @throws AuthorityProtocolError when the CA returns a certificate that is not
   *   revoked permanently.
   */
  async revoke(
    authority: string,
    request: RevocationRequest,
  ): Promise<Revocation> {
    const { serialNumber, revokedBy } = request;
    const certificate = { authority, serialNumber };
    const revocation = requireFound(
      certificate,
      await this.#requested(
        this.#byName.get(authority)?.revoke?.(request),
        `Certificates issued by the CA "${authority}" cannot be revoked through this gateway.`,
      ),
    );
    if (revocation.reason === ON_HOLD) {
      throw new AuthorityProtocolError(
        `The CA "${authority}" did not revoke certificate ${serialNumber} permanently`,
      );
    }
    return (
      (await this.#update(certificate, revocation, revokedBy)) ?? revocation
    );
  }

  /** Whether a CA supports holds. Default: the issuing CA. */
  hasHolds(name: string = this.#config!.authority): boolean {
    return this.#byName.get(name)?.hold !== undefined;
  }

  /**
   * Puts a certificate on hold. See {@link CertificateAuthority.hold}.
   *
   * @throws CertificateNotFoundError when the CA does not find it.
   */
  async hold(certificate: CertificateKey): Promise<Revocation> {
    const { authority, serialNumber } = certificate;
    const revocation = requireFound(
      certificate,
      await this.#requested(
        this.#byName.get(authority)?.hold?.(serialNumber),
        `Certificates issued by the CA "${authority}" cannot be put on hold.`,
      ),
    );
    await this.#update(certificate, revocation);
    return revocation;
  }

  /**
   * Ends a hold. See {@link CertificateAuthority.release}.
   *
   * @throws CertificateNotFoundError when a CA that can look up certificates does
   *   not find it.
   */
  async release(certificate: CertificateKey): Promise<Revocation | undefined> {
    const { authority, serialNumber } = certificate;
    const ca = this.#byName.get(authority);
    let revocation = await this.#requested(
      ca?.release?.(serialNumber),
      `Holds of the CA "${authority}" cannot be ended.`,
    );
    if (!revocation && ca?.get) {
      // The CA may also return this for a certificate that it does not find.
      const issued = await ca.get(serialNumber, { forRevocation: true });
      revocation = requireFound(certificate, issued).revocation;
    }
    await this.#update(certificate, revocation);
    return revocation;
  }

  /** @throws AuthorityRefusalError when the CA does not have the method. */
  async #requested(
    response: Promise<Revocation | undefined> | undefined,
    message: string,
  ): Promise<Revocation | undefined> {
    if (!response) {
      throw new AuthorityRefusalError(message);
    }
    return await response;
  }

  async #update(
    ...change: Parameters<CertificateRecords['update']>
  ): Promise<Revocation | undefined> {
    return await this.#gateway!.records.update(...change);
  }

  /** Records what was revoked, put on hold or released outside the gateway. */
  async #synchronize(
    record: CertificateRecord,
    { revocation }: IssuedCertificate,
  ): Promise<void> {
    const { reason } = record.revocation ?? {};
    const isPermanent = reason !== undefined && reason !== ON_HOLD;
    if (!isPermanent && reason !== revocation?.reason) {
      await this.#update(record, revocation);
    }
  }
}

/** @throws CertificateNotFoundError when a CA has returned `undefined`. */
function requireFound<T>(
  { authority, serialNumber }: CertificateKey,
  found: T | undefined,
): T {
  if (found === undefined) {
    throw new CertificateNotFoundError(
      `The CA "${authority}" does not find certificate ${serialNumber}`,
    );
  }
  return found;
}

/**
 * Returns whether a record is of a certificate, and not of another one with the
 * same serial number, from a CA that was replaced.
 */
function isOf(
  record: CertificateRecord | undefined,
  { certificate: { description } }: IssuedCertificate,
): boolean {
  return (
    description.ok &&
    record?.publicKeySha256 === description.certificate.publicKey.sha256
  );
}
