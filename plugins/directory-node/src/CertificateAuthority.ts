import { CustomErrorBase } from '@backstage/errors';
import type { Certificate, RequestSignature } from '@directory-gateway/x509';

/**
 * A request to sign a certificate. The gateway has authorized it and verified
 * the CSR: a CA does not decide which user may have which certificate.
 *
 * @public
 */
export interface SigningRequest {
  /** User name, in the directory's spelling. */
  readonly username: string;
  /** Kerberos principal of the user, for example `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** Name of the certificate profile. */
  readonly profile: string;
  /**
   * CSR in DER, with a verified proof of possession. Use it only for a CA that
   * requires a CSR, such as FreeIPA: it may contain extensions and attributes
   * that were not checked.
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
}

/**
 * A certificate issued by a CA.
 *
 * @public
 */
export interface IssuedCertificate {
  /** The certificate. Its description is parsed on first use. */
  readonly certificate: Certificate;
  /** The certificate and its issuers in DER, leaf first. */
  readonly chain: readonly Buffer[];
  /** Name of the CA in API responses, for example `ipa`. */
  readonly cacn: string;
  /** Set when the certificate is revoked or on hold. */
  readonly revocation?: {
    /** Reason code (RFC 5280 §5.3.1): 0 to 10, without 7; 6 means on hold. */
    readonly reason: number;
    /** Time of the revocation or hold, if the CA knows it. */
    readonly revokedAt?: Date;
  };
  /** Names of the users who own the certificate, if the CA knows them. */
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
 * An authorized request to put a certificate on hold.
 *
 * @public
 */
export interface HoldRequest {
  /** Serial number of the certificate. */
  readonly serialNumber: bigint;
  /** Caller, for the CA's records: an entity reference or a name. */
  readonly heldBy: string;
}

/**
 * An authorized request to end the hold of a certificate.
 *
 * @public
 */
export interface ReleaseRequest {
  /** Serial number of the certificate. */
  readonly serialNumber: bigint;
  /** Caller, for the CA's records: an entity reference or a name. */
  readonly releasedBy: string;
}

/**
 * A key that must not be certified again.
 *
 * @public
 */
export interface BlockedKey {
  /**
   * SHA-256 of the DER-encoded SubjectPublicKeyInfo, in lower-case hexadecimal.
   */
  readonly publicKeySha256: string;
}

/**
 * The port between the directory gateway and a certificate authority (CA). One
 * CA issues certificates (`directory.certificates.authority`); others can be
 * configured for reading.
 *
 * @public
 */
export interface CertificateAuthority {
  /**
   * All profiles of the CA by name. The gateway does not start if its
   * configuration names a different profile. Omit it if the profiles are not
   * known.
   */
  readonly profiles?: ReadonlyMap<string, AuthorityProfile>;

  /**
   * Signature algorithms of CSRs that the CA accepts; they limit the types of
   * keys. The gateway refuses other CSRs, including with `dry_run`. Default:
   * all.
   */
  readonly requestSignatures?: ReadonlySet<RequestSignature>;

  /**
   * Issues a certificate and records it before returning.
   *
   * @throws AuthorityRefusalError when this request will never be signed
   * @throws AuthorityUnavailableError when a later attempt may succeed.
   * @throws OutcomeUnknownError when a certificate may have been issued.
   */
  sign(request: SigningRequest): Promise<IssuedCertificate>;

  /**
   * Returns the certificate with a serial number, or `undefined` when the CA
   * did not issue it.
   *
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  get(
    serialNumber: bigint,
    options?: LookupOptions,
  ): Promise<IssuedCertificate | undefined>;

  /**
   * Revokes a certificate permanently, even if it is on hold. A revoked
   * certificate keeps its original reason. The gateway, not the CA, blocks the key after `keyCompromise`. Omit
   * the method if the gateway must not revoke.
   *
   * @returns the revoked certificate, or `undefined` when the CA did not issue
   *   it.
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  revoke?(request: RevocationRequest): Promise<IssuedCertificate | undefined>;

  /**
   * Suspends a certificate (`certificateHold`, RFC 5280 §5.3.1) until {@link
   * CertificateAuthority.release} or {@link CertificateAuthority.revoke}. A
   * certificate that is already revoked or on hold does not change. Omit the
   * method if the CA does not support holds.
   *
   * @returns the resulting certificate, or `undefined` when the CA did not
   *   issue it.
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  hold?(request: HoldRequest): Promise<IssuedCertificate | undefined>;

  /**
   * Ends the hold of a certificate. A certificate that is revoked or not on
   * hold does not change. Required with {@link CertificateAuthority.hold}.
   *
   * @returns the resulting certificate, or `undefined` when the CA did not
   *   issue it.
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  release?(request: ReleaseRequest): Promise<IssuedCertificate | undefined>;

  /**
   * Blocks a key permanently: the CA refuses to sign it again, even if the
   * gateway requests it. A key that is already blocked does not change. Omit
   * the method if the CA cannot block keys; the gateway blocks them in any
   * case.
   *
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  blockKey?(request: BlockedKey): Promise<void>;

  /**
   * Returns certificates of users that are not in the directory, by user name.
   * Users without certificates may be missing. Omit the method if the CA writes
   * certificates to the directory.
   *
   * @throws AuthorityUnavailableError when the CA is not available; the result
   *   is never incomplete.
   */
  listByUsers?(
    query: CertificatesQuery,
  ): Promise<ReadonlyMap<string, readonly IssuedCertificate[]>>;

  /**
   * Returns the users' certificates that expire within an interval and are
   * neither revoked nor on hold, in any order. Omit the method if the CA cannot
   * find them: users then do not receive expiry reminders.
   *
   * @throws AuthorityUnavailableError when the CA is not available; the result
   *   is never incomplete.
   */
  listExpiring?(query: ExpiringQuery): Promise<readonly ExpiringCertificate[]>;
}

/**
 * Query of {@link CertificateAuthority.listByUsers}.
 *
 * @public
 */
export interface CertificatesQuery {
  /** User names in the directory's spelling, at most 1,000. */
  readonly usernames: readonly string[];
  /**
   * `usable`: only certificates that are neither revoked nor on hold nor
   * expired.
   */
  readonly which: 'usable' | 'all';
}

/**
 * Query of {@link CertificateAuthority.listExpiring}.
 *
 * @public
 */
export interface ExpiringQuery {
  /** Earliest expiry, inclusive. */
  readonly from: Date;
  /** Latest expiry, exclusive. Default: no limit. */
  readonly before?: Date;
  /**
   * User name in the directory's spelling, to limit the result to one user.
   * Default: all users.
   */
  readonly username?: string;
}

/**
 * An expiring certificate.
 *
 * @public
 */
export interface ExpiringCertificate {
  /** Serial number of the certificate. */
  readonly serialNumber: bigint;
  /** User name of the owner according to the CA. The user may not exist. */
  readonly username: string;
  /** Start of the validity, in whole seconds. */
  readonly notBefore: Date;
  /** End of the validity, in whole seconds. */
  readonly notAfter: Date;
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
}
