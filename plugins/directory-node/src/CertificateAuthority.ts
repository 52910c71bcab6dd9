import { CustomErrorBase } from '@backstage/errors';
import type { Certificate } from '@directory-gateway/x509';

/**
 * A request to sign a certificate. The gateway has authorized it and verified
 * the CSR: a CA does not decide who may have which certificate.
 *
 * @public
 */
export interface SigningRequest {
  /** User name, as the directory spells it. */
  readonly username: string;
  /** Kerberos principal of the user, for example `alice@EXAMPLE.TEST`. */
  readonly principal: string;
  /** Name of the certificate profile. */
  readonly profile: string;
  /**
   * The CSR, DER, with its proof of possession verified. Use it only for a CA
   * that accepts nothing else, such as FreeIPA: it may contain extensions and
   * attributes that were not checked.
   */
  readonly csr: Buffer;
  /**
   * SubjectPublicKeyInfo of the CSR, DER. Nothing else may be copied from the
   * CSR. The gateway has checked that it is not a blocked key.
   */
  readonly publicKey: Buffer;
  /** Requested subject alternative names, all of which belong to the user. */
  readonly alternativeNames: {
    /** rfc822Name. */
    readonly emails: readonly string[];
    /** Microsoft user principal names. */
    readonly userPrincipalNames: readonly string[];
    /** KRB5PrincipalName (RFC 4556), as `name@REALM`. */
    readonly kerberosPrincipalNames: readonly string[];
  };
  /** Name of the caller: a directory user, or a service without its realm. */
  readonly requestedBy: string;
}

/**
 * A certificate that a CA has issued.
 *
 * @public
 */
export interface IssuedCertificate {
  /** The certificate, whose description is read on first use. */
  readonly certificate: Certificate;
  /** The certificate and its issuers, DER, leaf first. */
  readonly chain: readonly Buffer[];
  /** Name of the CA in API responses, for example `ipa`. */
  readonly cacn: string;
  /** Set when the certificate is revoked or on hold. */
  readonly revocation?: {
    /** RFC 5280 §5.3.1 reason code: 0 to 10, without 7; 6 is on hold. */
    readonly reason: number;
    /** Time of the revocation or of the hold, if the CA knows it. */
    readonly revokedAt?: Date;
  };
  /** Names of the users who own the certificate, as far as the CA knows. */
  readonly owners?: readonly string[];
}

/**
 * Properties that all certificates of a profile have.
 *
 * @public
 */
export interface AuthorityProfile {
  /** Maximum validity in milliseconds. */
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
 * An authorized request to revoke a certificate.
 *
 * @public
 */
export interface RevocationRequest {
  /** The certificate. */
  readonly serialNumber: bigint;
  /** Why it is revoked. */
  readonly reason: RevocableReason;
  /** The caller, for the CA's records: an entity reference, or a name. */
  readonly revokedBy: string;
}

/**
 * An authorized request to suspend a certificate.
 *
 * @public
 */
export interface HoldRequest {
  /** The certificate. */
  readonly serialNumber: bigint;
  /** The caller, for the CA's records: an entity reference, or a name. */
  readonly heldBy: string;
}

/**
 * An authorized request to end the hold of a certificate.
 *
 * @public
 */
export interface ReleaseRequest {
  /** The certificate. */
  readonly serialNumber: bigint;
  /** The caller, for the CA's records: an entity reference, or a name. */
  readonly releasedBy: string;
}

/**
 * A key that must not be certified again.
 *
 * @public
 */
export interface BlockedKey {
  /** SHA-256 of the SubjectPublicKeyInfo, DER, in lower-case hex. */
  readonly publicKeySha256: string;
}

/**
 * The port between the directory gateway and a certificate authority (CA). One
 * CA issues (`directory.certificates.authority`); others may be read.
 *
 * @public
 */
export interface CertificateAuthority {
  /**
   * All profiles of the CA, by name. The gateway does not start when its
   * configuration names another one. Leave it out if they are not known.
   */
  readonly profiles?: ReadonlyMap<string, AuthorityProfile>;

  /**
   * Issues a certificate and records it before it returns.
   *
   * @throws AuthorityRefusalError when this request will never be signed.
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
   * Revokes a certificate permanently. A revoked certificate keeps its reason.
   * The gateway, not the CA, blocks the key after `keyCompromise`. Leave it out
   * if the gateway must not revoke.
   *
   * @returns the revoked certificate, or `undefined` when the CA did not issue
   *   it.
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  revoke?(request: RevocationRequest): Promise<IssuedCertificate | undefined>;

  /**
   * Suspends a certificate (`certificateHold`, RFC 5280 §5.3.1) until
   * {@link CertificateAuthority.release} or
   * {@link CertificateAuthority.revoke}. A certificate that is revoked or on
   * hold already does not change. Omit the method if the CA does not support
   * holds.
   *
   * @returns the certificate as it is then, or `undefined` when the CA did not
   *   issue it.
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  hold?(request: HoldRequest): Promise<IssuedCertificate | undefined>;

  /**
   * Ends the hold of a certificate. A certificate that is revoked or not on
   * hold does not change. Required with {@link CertificateAuthority.hold}.
   *
   * @returns the certificate as it is then, or `undefined` when the CA did not
   *   issue it.
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  release?(request: ReleaseRequest): Promise<IssuedCertificate | undefined>;

  /**
   * Blocks a key permanently: the CA refuses to sign it again, whatever the
   * gateway requests. A key that is blocked already does not change. Omit the
   * method if the CA cannot block keys; the gateway blocks them in any case.
   *
   * @throws AuthorityUnavailableError when the CA is not available.
   */
  blockKey?(request: BlockedKey): Promise<void>;

  /**
   * Returns certificates of users that are not in the directory, by user name.
   * Users without certificates may be missing. Leave it out if the CA writes
   * certificates to the directory.
   *
   * @throws AuthorityUnavailableError when the CA is not available: never fewer
   *   certificates instead.
   */
  listByUsers?(
    query: CertificatesQuery,
  ): Promise<ReadonlyMap<string, readonly IssuedCertificate[]>>;

  /**
   * Returns the users' certificates that expire in an interval and are neither
   * revoked nor on hold, in any order. Leave it out if the CA cannot find them: users then
   * get no expiry reminders.
   *
   * @throws AuthorityUnavailableError when the CA is not available: never fewer
   *   certificates instead.
   */
  listExpiring?(query: ExpiringQuery): Promise<readonly ExpiringCertificate[]>;
}

/**
 * Query of {@link CertificateAuthority.listByUsers}.
 *
 * @public
 */
export interface CertificatesQuery {
  /** User names as the directory spells them, at most 1,000. */
  readonly usernames: readonly string[];
  /** `usable`: neither revoked nor on hold nor expired. */
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
  /** Limits the result to one user, as the directory spells the name. */
  readonly username?: string;
}

/**
 * A certificate that expires.
 *
 * @public
 */
export interface ExpiringCertificate {
  /** The certificate. */
  readonly serialNumber: bigint;
  /** Owner as the CA knows it; such a user may not exist. */
  readonly username: string;
  /** First moment of validity, in whole seconds. */
  readonly notBefore: Date;
  /** Last moment of validity, in whole seconds. */
  readonly notAfter: Date;
}

/**
 * Reasons for which a user's certificate can be revoked (RFC 5280 §5.3.1).
 * Those of CA certificates are missing, and so is `certificateHold`: revocation
 * is permanent, and {@link CertificateAuthority.hold} is not.
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
 * The CA refuses a request. The message is returned to the caller.
 *
 * @public
 */
export class AuthorityRefusalError extends CustomErrorBase {
  /** Name of the error. */
  name = 'AuthorityRefusalError' as const;

  /**
   * `invalid` (400): the request is wrong. `forbidden` (403): the gateway has no
   * permission for it.
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
 * The CA is not available (503). The message is for the log only.
 *
 * @public
 */
export class AuthorityUnavailableError extends CustomErrorBase {
  /** Name of the error. */
  name = 'AuthorityUnavailableError' as const;
}

/**
 * A request was sent and its response was lost: a certificate may exist (503).
 * The message is for the log only.
 *
 * @public
 */
export class OutcomeUnknownError extends CustomErrorBase {
  /** Name of the error. */
  name = 'OutcomeUnknownError' as const;
}

/**
 * The CA returned an invalid response (502). The message is for the log only.
 *
 * @public
 */
export class AuthorityProtocolError extends CustomErrorBase {
  /** Name of the error. */
  name = 'AuthorityProtocolError' as const;
}
