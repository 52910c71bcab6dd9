import { ConflictError, InputError } from '@backstage/errors';
import {
  AuthorityProtocolError,
  AuthorityRefusalError,
  type CertificateAuthority,
  type DirectoryCertificateAuthoritiesExtensionPoint,
  type HoldRequest,
  type IssuedCertificate,
  type LookupOptions,
  type ReleaseRequest,
  type Revocation,
  type RevocationRecords,
  type RevocationRequest,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { CertificatesConfig } from './CertificatesConfig';
import type {
  CertificateRecord,
  CertificateRecords,
} from './records/CertificateRecords';
import { ON_HOLD, type RevocationTable } from './records/RevocationTable';

/** Fields of a record that responses contain. */
export type CertificateNotes = Partial<
  Pick<CertificateRecord, 'label' | 'profile'>
>;

/** A certificate, and what the gateway has recorded about it. */
export type LocatedCertificate = IssuedCertificate &
  CertificateNotes & {
    /** Registered name of the CA. */
    readonly authority: string;
    /** `undefined` when it was not issued through the gateway. */
    readonly record?: CertificateRecord;
  };

/** The gateway's records, which tell which CA has issued a certificate. */
export interface RecordsOfAuthorities {
  readonly records: Pick<CertificateRecords, 'find'>;
  readonly revocations: Pick<
    RevocationTable,
    keyof RevocationRecords | 'update'
  >;
}

/**
 * The registered CAs: the configured CA issues, and the listed CAs are read in
 * order. The state that a CA returns for a certificate is recorded.
 */
export class CertificateAuthorities implements DirectoryCertificateAuthoritiesExtensionPoint {
  readonly #byName = new Map<string, CertificateAuthority>();
  readonly #opened = Promise.withResolvers<RevocationRecords>();
  #config: CertificatesConfig | undefined;
  #tables: RecordsOfAuthorities | undefined;

  readonly revocations: RevocationRecords = {
    findIssuer: async (...args) =>
      (await this.#opened.promise).findIssuer(...args),
    set: async (...args) => (await this.#opened.promise).set(...args),
    list: async (...args) => (await this.#opened.promise).list(...args),
    import: async (...args) => (await this.#opened.promise).import(...args),
  };

  addAuthority(name: string, authority: CertificateAuthority): void {
    if (this.#byName.has(name)) {
      throw new ConflictError(
        `The certificate authority "${name}" is already registered`,
      );
    }
    this.#byName.set(name, authority);
  }

  /**
   * Selects the CAs. Must be called after all modules have registered theirs,
   * and the database was migrated.
   *
   * @throws InputError when a configured CA is not registered, or the issuing
   *   CA does not have a configured profile.
   */
  configure(config: CertificatesConfig, tables: RecordsOfAuthorities): void {
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
    this.#tables = tables;
    this.#opened.resolve(tables.revocations);
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
   */
  async get(
    serialNumber: bigint,
    options?: LookupOptions,
  ): Promise<LocatedCertificate | undefined> {
    if (!this.#config) {
      return undefined;
    }
    const records = await this.#tables!.records.find(serialNumber);
    const { read } = this.#config;
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
        .get?.(serialNumber, options);
      if (issued) {
        const own = isOf(record, issued) ? record : undefined;
        const { label, profile } = own ?? {};
        await (own && this.#synchronize(own, issued));
        return { ...issued, label, profile, record: own, authority };
      }
    }
    return undefined;
  }

  /** Returns a certificate as recorded; `undefined` when only the CA has it. */
  present(record: CertificateRecord): LocatedCertificate | undefined {
    const { authority, certificate, issuers, label, profile } = record;
    const { revocation, username } = record;
    return (
      certificate && {
        certificate,
        chain: [certificate.der, ...issuers],
        cacn: this.#byName.get(authority)?.cacn ?? authority,
        revocation,
        owners: [username],
        label,
        profile,
        authority,
        record,
      }
    );
  }

  /**
   * Revokes a certificate of a CA. A revoked certificate keeps its reason, also
   * if only the gateway knows it.
   *
   * @returns `undefined` when the CA did not issue the certificate
   * @throws AuthorityRefusalError when the CA does not let the gateway revoke.
   * @throws AuthorityProtocolError when the CA returns a certificate that is not
   *   revoked permanently.
   */
  async revoke(
    name: string,
    request: RevocationRequest,
  ): Promise<Revocation | undefined> {
    const authority = this.#byName.get(name);
    if (!authority?.revoke) {
      throw new AuthorityRefusalError(
        `Certificates issued by the CA "${name}" cannot be revoked through this gateway.`,
      );
    }
    const revocation = await authority.revoke(request);
    if (revocation?.reason === ON_HOLD) {
      throw new AuthorityProtocolError(
        `The CA "${name}" did not revoke certificate ${request.serialNumber} permanently`,
      );
    }
    if (!revocation) {
      return undefined;
    }
    const { serialNumber, revokedBy } = request;
    await this.#record(name, serialNumber, revocation, revokedBy);
    const records = authority.get
      ? []
      : await this.#tables!.records.find(serialNumber);
    const record = records.find(each => each.authority === name);
    return record?.revocation ?? revocation;
  }

  /** Whether a CA supports holds. Default: the issuing CA. */
  hasHolds(name: string = this.#config!.authority): boolean {
    return supportsHolds(this.#byName.get(name));
  }

  /** Puts a certificate of a CA on hold. See {@link CertificateAuthority.hold}. */
  async hold(
    name: string,
    request: HoldRequest,
  ): Promise<Revocation | undefined> {
    const revocation = await this.#holding(name).hold(request);
    await (revocation &&
      this.#record(name, request.serialNumber, revocation, request.heldBy));
    return revocation;
  }

  /** Ends a hold. See {@link CertificateAuthority.release}. */
  async release(
    name: string,
    request: ReleaseRequest,
  ): Promise<Revocation | undefined> {
    const revocation = await this.#holding(name).release(request);
    await this.#record(name, request.serialNumber, revocation);
    return revocation;
  }

  #holding(name: string) {
    const authority = this.#byName.get(name);
    if (!supportsHolds(authority)) {
      throw new AuthorityRefusalError(
        `Certificates issued by the CA "${name}" cannot be put on hold.`,
      );
    }
    return authority;
  }

  /** Records what was revoked, put on hold or released outside the gateway. */
  async #synchronize(
    { authority, revocation, serialNumber }: CertificateRecord,
    issued: IssuedCertificate,
  ): Promise<void> {
    const { reason } = revocation ?? {};
    const isPermanent = reason !== undefined && reason !== ON_HOLD;
    if (!isPermanent && reason !== issued.revocation?.reason) {
      await this.#record(authority, serialNumber, issued.revocation);
    }
  }

  async #record(
    authority: string,
    serialNumber: bigint,
    revocation: Revocation | undefined,
    revokedBy?: string,
  ): Promise<void> {
    const serial_number = String(serialNumber);
    await this.#tables!.revocations.update(
      { serial_number, authority },
      revocation,
      revokedBy,
    );
  }
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

function supportsHolds(
  authority: CertificateAuthority | undefined,
): authority is CertificateAuthority &
  Required<Pick<CertificateAuthority, 'hold' | 'release'>> {
  return authority?.hold !== undefined && authority.release !== undefined;
}
