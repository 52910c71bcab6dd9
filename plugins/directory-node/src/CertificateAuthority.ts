import { CustomErrorBase } from '@backstage/errors';
import type { Certificate, RequestSignature } from '@directory-gateway/x509';

/**
 * A request to sign a certificate. The gateway has authorized it, verified the
 * CSR and reserved the serial number: a CA does not decide which user may have
 * which certificate.
 *
 * @public
 */
export interface SigningRequest {
  /**
   * Serial number that the gateway has reserved: positive, random, at most 127
   * bits. A CA with {@link CertificateAuthority.choosesSerialNumbers} ignores it.
   */
  readonly serialNumber: bigint;
  /** User name, in the directory's spelling. */
  readonly username: string;
  /** Kerberos principal of the user, for example `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** Name of the certificate profile. */
  readonly profile: string;
  /**
   * CSR in DER, with a verified proof of possession. Use it only for a CA that
   * requires a CSR, such as FreeIPA or step-ca: it may contain extensions and
   * attributes that were not checked.
   */
  readonly csr: Buffer;
  /**
   * SubjectPublicKeyInfo of the CSR in DER. Nothing else may be copied from the
   * CSR. The gateway has checked that the key is not blocked.
   */
  readonly publicKey: Buffer;
  /** Requested subject alternative names. All of them belong to the user. */
  readonly alternativeNames: {
    /** rfc822Name. */
    readonly emails: readonly string[];
    /** Microsoft user principal names. */
    readonly userPrincipalNames: readonly string[];
    /** KRB5PrincipalName (RFC 4556), as `name@REALM`. */
    readonly kerberosPrincipalNames: readonly string[];
  };
  /**
   * Name of the caller: a directory user, or a service principal without its
   * realm.
   */
  readonly requestedBy: string;
  /**
   * Time of an earlier attempt of the same request whose outcome is not known.
   * A CA with {@link CertificateAuthority.choosesSerialNumbers} must return the
   * certificate of that attempt if it has signed one. Default: none.
   */
  readonly attemptedAt?: Date;
  /**
   * Serial numbers of the certificates that the gateway has recorded for the
   * key: none of them is that of a lost response. Set for a CA with {@link
   * CertificateAuthority.choosesSerialNumbers}. Default: none.
   */
  readonly recorded?: ReadonlySet<bigint>;
}

/**
 * A certificate that a CA has just signed. The gateway compares it with the
 * request before anything leaves.
 *
 * @public
 */
export interface SignedCertificate {
  /** The certificate. Its description is parsed on first use. */
  readonly certificate: Certificate;
  /** The certificate and its issuers in DER, leaf first. */
  readonly chain: readonly Buffer[];
}

/**
 * State of a certificate that is revoked or on hold.
 *
 * @public
 */
export interface Revocation {
  /** Reason code (RFC 5280 §5.3.1): 0 to 10, without 7; 6 means on hold. */
  readonly reason: number;
  /** Time of the revocation or hold, if the CA knows it. */
  readonly revokedAt?: Date;
}

/**
 * A certificate issued by a CA, with its state.
 *
 * @public
 */
export interface IssuedCertificate extends SignedCertificate {
  /** Name of the CA in API responses, for example `ipa`. */
  readonly cacn: string;
  /** Set when the certificate is revoked or on hold. */
  readonly revocation?: Revocation;
  /** Names of the users who own the certificate, if they are known. */
  readonly owners?: readonly string[];
}

/**
 * Properties of all certificates of a profile.
 *
 * @public
 */
export interface AuthorityProfile {
  /** Maximum validity, in milliseconds. */
  readonly validityMs: number;
  /** Extended key usages: names such as `clientAuth`, or OIDs. */
  readonly extendedKeyUsage: readonly string[];
}

/**
 * Options of {@link CertificateAuthority.get}.
 *
 * @public
 */
export interface LookupOptions {
  /**
   * Whether the certificate is about to be revoked: limits on concurrent
   * lookups then do not apply. Default: false.
   */
  readonly forRevocation?: boolean;
  /** Ends the lookup, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/**
 * An authorized request to revoke a certificate.
 *
 * @public
 */
export interface RevocationRequest {
  /** Serial number of the certificate. */
  readonly serialNumber: bigint;
  /** Reason for the revocation. */
  readonly reason: RevocableReason;
  /** Caller, for the CA's records: an entity reference or a name. */
  readonly revokedBy: string;
}

/**
 * The port between the directory gateway and a certificate authority (CA): it
 * signs. The gateway decides who may have a certificate, reserves and records
 * it, blocks keys, and sends reminders. Optional methods are what the CA can do
 * after it has signed; the API and the pages show what is missing.
 *
 * One CA issues certificates (`directory.certificates.authority`); others can be
 * configured for reading.
 *
 * @public
 */
export interface CertificateAuthority {
  /** Name of the CA in API responses, for example `ipa`. */
  readonly cacn: string;

  /**
   * All profiles of the CA by name. The gateway does not start if its
   * configuration names a different profile. Omit it if the profiles are not
   * known.
   */
  readonly profiles?: ReadonlyMap<string, AuthorityProfile>;

  /**
   * Types of keys, and of signatures of CSRs, that the CA accepts. The gateway
   * refuses others, including with `dry_run`. Default: all.
   */
  readonly keyTypes?: ReadonlySet<RequestSignature>;

  /**
   * Whether the CA ignores {@link SigningRequest.serialNumber}. Default: false,
   * and the gateway refuses a certificate with another serial number.
   */
  readonly choosesSerialNumbers?: boolean;

  /**
   * Signs a certificate.
   *
   * @throws AuthorityRefusalError when this request will never be signed.
   * @throws AuthorityUnavailableError when nothing was signed, and a later
   *   attempt may succeed.
   * @throws AuthorityProtocolError when the response of the CA is invalid; with
   *   `isUnsigned` if nothing was signed.
   * @throws OutcomeUnknownError when a certificate may have been signed. The
   *   gateway revokes the serial number that it has reserved.
   */
  sign(request: SigningRequest): Promise<SignedCertificate>;

  /**
   * Revokes a certificate permanently, even if it is on hold. A revoked
   * certificate keeps its original reason. Omit the method if the gateway must
   * not revoke.
   *
   * @returns the state afterwards; `undefined` when the CA knows that it did not
   *   issue the certificate: the gateway reports an error, and tries again later
   *   if no caller has requested the revocation
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  revoke?(request: RevocationRequest): Promise<Revocation | undefined>;

  /**
   * Suspends the certificate with a serial number (`certificateHold`, RFC 5280
   * §5.3.1) until {@link CertificateAuthority.release} or {@link
   * CertificateAuthority.revoke}. A certificate that is already revoked or on
   * hold does not change. Omit the method if the CA does not support holds.
   *
   * @returns the state afterwards; `undefined` when the CA knows that it did not
   *   issue the certificate
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  hold?(serialNumber: bigint): Promise<Revocation | undefined>;

  /**
   * Ends the hold of the certificate with a serial number. A certificate that is
   * revoked or not on hold does not change. Required with {@link
   * CertificateAuthority.hold}.
   *
   * @returns the state afterwards: `undefined` when the certificate is valid
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  release?(serialNumber: bigint): Promise<Revocation | undefined>;

  /**
   * Returns the certificate with a serial number and its current state, or
   * `undefined` when the CA did not issue it. Omit the method if the CA cannot
   * look up certificates: the gateway then reads its own records, which have
   * only what it has issued and revoked itself.
   *
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  get?(
    serialNumber: bigint,
    options?: LookupOptions,
  ): Promise<IssuedCertificate | undefined>;
}

/**
 * A revoked certificate, or one on hold, in the gateway's records.
 *
 * @public
 */
export interface RevokedCertificate {
  /** Serial number of the certificate. */
  readonly serialNumber: bigint;
  /** Reason code (RFC 5280 §5.3.1): 0 to 10, without 7; 6 means on hold. */
  readonly reason: number;
  /** Time of the revocation or hold, in whole seconds. */
  readonly revokedAt: Date;
}

/**
 * The gateway's records of a CA's revocations, for a CA that signs its own CRL
 * from them and therefore does not keep records. All methods wait until the
 * gateway has migrated its database.
 *
 * An issuer is named by the SHA-256 of its SubjectPublicKeyInfo, lower-case
 * hex.
 *
 * @public
 */
export interface RevocationRecords {
  /**
   * Returns the issuer of a certificate; without `issuer` when the serial number
   * was only reserved, and `undefined` when it is not on record.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  findIssuer(
    serialNumber: bigint,
  ): Promise<{ readonly issuer?: string } | undefined>;

  /**
   * Records a revocation or a hold; `undefined` ends a hold. A permanent
   * revocation does not change afterwards.
   *
   * @param issuer - recorded if the issuer of the certificate is not known
   * @returns the state afterwards; `undefined` when the certificate is valid, or
   *   the serial number is not on record
   * @throws AuthorityUnavailableError when the database is not available.
   */
  set(
    serialNumber: bigint,
    issuer: string,
    revocation: Omit<RevokedCertificate, 'serialNumber'> | undefined,
  ): Promise<RevokedCertificate | undefined>;

  /**
   * Returns what the CRL of an issuer must contain: all revoked certificates,
   * and those on hold, that had not expired at a time.
   *
   * @throws AuthorityUnavailableError when the database is not available.
   */
  list(
    issuer: string,
    options: { readonly notExpiredAt: Date },
  ): Promise<readonly RevokedCertificate[]>;

  /**
   * Records revocations of an earlier CRL that are missing because the database
   * was restored, also of serial numbers that are not on record. Nothing that
   * is revoked becomes valid.
   *
   * @returns the number of revocations that were missing
   * @throws AuthorityUnavailableError when the database is not available.
   */
  import(
    issuer: string,
    revoked: readonly RevokedCertificate[],
  ): Promise<number>;
}

/**
 * Reasons for which a user's certificate can be revoked (RFC 5280 §5.3.1).
 * Reasons for CA certificates are excluded, and so is `certificateHold`: unlike
 * {@link CertificateAuthority.hold}, revocation is permanent.
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
 * Thrown when the CA refuses a request. The message is returned to the caller.
 *
 * @public
 */
export class AuthorityRefusalError extends CustomErrorBase {
  /** Name of the error. */
  name = 'AuthorityRefusalError' as const;

  /**
   * `invalid` (400): the request is not valid. `forbidden` (403): the gateway
   * does not have permission for it.
   */
  readonly kind: 'invalid' | 'forbidden';

  constructor(
    message: string,
    options: { readonly kind?: 'invalid' | 'forbidden' } = {},
  ) {
    super(message);
    this.kind = options.kind ?? 'invalid';
  }
}

/**
 * Thrown when the CA is not available (503). The message is only logged.
 *
 * @public
 */
export class AuthorityUnavailableError extends CustomErrorBase {
  /** Name of the error. */
  name = 'AuthorityUnavailableError' as const;
}

/**
 * Thrown when a request was sent but its response was lost: a certificate may
 * exist (503). The message is only logged.
 *
 * @public
 */
export class OutcomeUnknownError extends CustomErrorBase {
  /** Name of the error. */
  name = 'OutcomeUnknownError' as const;
}

/**
 * Thrown when the CA returns an invalid response (502). The message is only
 * logged.
 *
 * @public
 */
export class AuthorityProtocolError extends CustomErrorBase {
  /** Name of the error. */
  name = 'AuthorityProtocolError' as const;

  /** Whether it is certain that nothing was signed. */
  readonly isUnsigned: boolean;

  /** @param options - `isUnsigned`: default: false */
  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly isUnsigned?: boolean } = {},
  ) {
    super(message, options.cause);
    this.isUnsigned = options.isUnsigned ?? false;
  }
}
