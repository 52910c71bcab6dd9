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
