import type { RevocationReason } from '@directory-gateway/x509';

/**
 * The reasons that can be given for a person's certificate. Not those of other
 * authorities, and not a hold: what is revoked here stays revoked.
 */
export const REVOCABLE_REASONS = [
  'unspecified',
  'keyCompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'privilegeWithdrawn',
] as const satisfies readonly RevocationReason[];

/** One of them. */
export type RevocableReason = (typeof REVOCABLE_REASONS)[number];
