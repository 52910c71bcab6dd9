/**
 * Why a certificate was revoked, with the code of each reason (RFC 5280 §5.3.1).
 *
 * @public
 */
export const REVOCATION_REASONS = {
  unspecified: 0,
  keyCompromise: 1,
  cACompromise: 2,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  certificateHold: 6,
  removeFromCRL: 8,
  privilegeWithdrawn: 9,
  aACompromise: 10,
} as const;

/**
 * The name of a reason for revoking.
 *
 * @public
 */
export type RevocationReason = keyof typeof REVOCATION_REASONS;

/**
 * A certificate that is no longer to be trusted.
 *
 * @public
 */
export interface RevokedCertificate {
  readonly serialNumber: bigint;
  /** Fractions of a second are dropped. */
  readonly revokedAt: Date;
  /** Default: `unspecified`. */
  readonly reason?: RevocationReason;
}

/**
 * What a revocation list is to say.
 *
 * @public
 */
export interface RevocationListFields {
  /** Above that of every list before. */
  readonly number: bigint;
  readonly thisUpdate: Date;
  /** When the next list is there at the latest. */
  readonly nextUpdate: Date;
  readonly revoked: readonly RevokedCertificate[];
}
