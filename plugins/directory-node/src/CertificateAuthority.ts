import { CustomErrorBase } from '@backstage/errors';

/**
 * A request to sign, already authorised and its CSR already read: an authority
 * decides nothing about who may have what.
 *
 * @public
 */
export interface SigningRequest {
  /** The user for whom the certificate is, in the directory's spelling. */
  readonly username: string;
  /** Their Kerberos principal with its realm, for example `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** Name of the certificate profile. */
  readonly profile: string;
  /**
   * The CSR, DER, its proof of possession verified. Only for a CA that accepts
   * nothing but a CSR, such as FreeIPA: besides the key and the names below it
   * may contain extensions and attributes that were not checked.
   */
  readonly csr: Buffer;
  /**
   * Its SubjectPublicKeyInfo, DER: all that may be copied from the CSR. The
   * gateway has checked that the key was not revoked for `keyCompromise`.
   */
  readonly publicKey: Buffer;
  /** Subject alternative names that were asked for and that the user has. */
  readonly alternativeNames: {
    /** rfc822Name. */
    readonly emails: readonly string[];
    /** Microsoft user principal names. */
    readonly userPrincipalNames: readonly string[];
    /** KRB5PrincipalName (RFC 4556), as `name@REALM`. */
    readonly kerberosPrincipalNames: readonly string[];
  };
  /** Who asks: a directory user, or a service without its realm. */
  readonly requestedBy: string;
}

/**
 * A certificate that an authority has issued.
 *
 * @public
 */
export interface IssuedCertificate {
  /** The certificate, DER. */
  readonly certificate: Buffer;
  /** The certificate and those above it, DER, leaf first. */
  readonly chain: readonly Buffer[];
  /** The authority's name in answers, for example `ipa`. */
  readonly cacn: string;
  /** Set when it has been revoked. */
  readonly revocation?: {
    /** RFC 5280 §5.3.1 reason code, 0 to 10 but 7. */
    readonly reason: number;
  };
  /** User names of those to whom it belongs, as far as the authority knows. */
  readonly owners?: readonly string[];
}

/**
 * What an authority tells of the certificates of one profile.
 *
 * @public
 */
export interface AuthorityProfile {
  /** How long they last, at most, in milliseconds. */
  readonly validityMs: number;
  /** Names of key purposes such as `clientAuth`, or OIDs. */
  readonly extendedKeyUsage: readonly string[];
}

/**
 * Options of {@link CertificateAuthority.get}.
 *
 * @public
 */
export interface LookupOptions {
  /**
   * Whether the certificate is about to be revoked: a limit on concurrent
   * lookups does not apply. Default: false.
   */
  readonly forRevocation?: boolean;
}

/**
 * A revocation, already authorised.
 *
 * @public
 */
export interface RevocationRequest {
  readonly serialNumber: bigint;
  readonly reason: RevocableReason;
  /** Who revokes, for the authority's record: an entity reference, or a name. */
  readonly revokedBy: string;
}

/**
 * Signs certificates and knows the ones it signed: the port between the
 * directory gateway and its authorities. Exactly one issues, by
 * `directory.certificates.authority`; others may be read.
 *
 * @public
 */
export interface CertificateAuthority {
  /**
   * All profiles with which it signs, by name, so that the gateway offers no
   * other at start. An authority that cannot tell them leaves this out.
   */
  readonly profiles?: ReadonlyMap<string, AuthorityProfile>;

  /**
   * Issues a certificate. An answer means that the authority has it on record.
   *
   * @throws AuthorityRefusalError when this request will never be signed.
   * @throws AuthorityUnavailableError when it may be, later.
   * @throws OutcomeUnknownError when it is not known whether it was signed.
   */
  sign(request: SigningRequest): Promise<IssuedCertificate>;

  /**
   * The certificate of a serial number, `undefined` when this authority never
   * issued it.
   *
   * @throws AuthorityUnavailableError when the authority cannot be asked:
   *   never an `undefined` in its place.
   */
  get(
    serialNumber: bigint,
    options?: LookupOptions,
  ): Promise<IssuedCertificate | undefined>;

  /**
   * Revokes a certificate for good. One that is revoked already stays as it is.
   * An authority that does not let the gateway revoke leaves this out. After
   * `keyCompromise` the gateway, not the authority, blocks the key.
   *
   * @returns the certificate as it is from now on, `undefined` when this
   *   authority never issued it
   * @throws AuthorityUnavailableError when the authority cannot be asked.
   */
  revoke?(order: RevocationRequest): Promise<IssuedCertificate | undefined>;

  /**
   * The certificates of users that the directory itself does not hold, by user
   * name; who has none may be missing. An authority that writes them into the
   * directory leaves this out.
   *
   * @throws AuthorityUnavailableError when the authority cannot be asked:
   *   never fewer certificates in its place.
   */
  listByUsers?(
    query: CertificatesQuery,
  ): Promise<ReadonlyMap<string, readonly IssuedCertificate[]>>;

  /**
   * The users' certificates whose validity ends within a time, less those that
   * the authority knows to be revoked, in no order. An authority that cannot
   * tell leaves this out: nobody is reminded of its certificates.
   *
   * @throws AuthorityUnavailableError when the authority cannot be asked:
   *   never fewer certificates in its place.
   */
  listExpiring?(query: ExpiringQuery): Promise<readonly ExpiringCertificate[]>;
}

/**
 * Whose certificates are asked for, and which of them.
 *
 * @public
 */
export interface CertificatesQuery {
  /** User names in the directory's spelling, at most 1,000. */
  readonly usernames: readonly string[];
  /** Those that are neither revoked nor over, or all on record. */
  readonly which: 'usable' | 'all';
}

/**
 * Which ends of validity are asked for.
 *
 * @public
 */
export interface ExpiringQuery {
  /** The first time at which a certificate may end. */
  readonly from: Date;
  /** The first time at which it may not any more. Default: no end is too late. */
  readonly before?: Date;
  /** Only those of the user of this name, in the directory's spelling. */
  readonly username?: string;
}

/**
 * What is to be known of a certificate before it is read.
 *
 * @public
 */
export interface ExpiringCertificate {
  readonly serialNumber: bigint;
  /** Whose it is, as far as the authority knows: it may be nobody's name. */
  readonly username: string;
  /** Beginning of validity, in whole seconds. */
  readonly notBefore: Date;
  /** End of validity, in whole seconds: it is still valid then. */
  readonly notAfter: Date;
}

/**
 * The reasons that can be given for a person's certificate (RFC 5280 §5.3.1).
 * Not those of authorities, and not a hold: what is revoked stays revoked.
 *
 * @public
 */
export const REVOCABLE_REASONS = [
  'unspecified',
  'keyCompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'privilegeWithdrawn',
] as const;

/**
 * One of {@link REVOCABLE_REASONS}.
 *
 * @public
 */
export type RevocableReason = (typeof REVOCABLE_REASONS)[number];

/**
 * The authority will not sign this request. The message is for the caller.
 *
 * @public
 */
export class AuthorityRefusalError extends CustomErrorBase {
  name = 'AuthorityRefusalError' as const;

  /**
   * `invalid`: the request is at fault (400). `forbidden`: the gateway may not
   * ask for it (403).
   */
  readonly kind: 'invalid' | 'forbidden';

  constructor(
    message: string,
    options: {
      readonly kind?: 'invalid' | 'forbidden';
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause);
    this.kind = options.kind ?? 'invalid';
  }
}

/**
 * The authority cannot be asked now: 503 for the caller. The message is for
 * the log only.
 *
 * @public
 */
export class AuthorityUnavailableError extends CustomErrorBase {
  name = 'AuthorityUnavailableError' as const;
}

/**
 * The request was sent and its answer was lost: a certificate may exist. 503
 * for the caller, who must not be told that nothing was signed. The message is
 * for the log only.
 *
 * @public
 */
export class OutcomeUnknownError extends CustomErrorBase {
  name = 'OutcomeUnknownError' as const;
}

/**
 * The authority answered something that it should not: 502 for the caller. The
 * message is for the log only.
 *
 * @public
 */
export class AuthorityProtocolError extends CustomErrorBase {
  name = 'AuthorityProtocolError' as const;
}
