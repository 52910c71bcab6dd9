import { CustomErrorBase } from '@backstage/errors';
import type { RuleResult } from './signingRules';

/**
 * Thrown when a signing request fails a rule. The message is for the caller.
 */
export class SigningRefusedError extends CustomErrorBase {
  name = 'SigningRefusedError' as const;
  readonly failedRule: RuleResult;

  constructor(failedRule: RuleResult) {
    super(failedRule.message);
    this.failedRule = failedRule;
  }
}

/** Thrown when a caller exceeds `directory.certificates.limit`. */
export class SigningLimitExceededError extends CustomErrorBase {
  name = 'SigningLimitExceededError' as const;
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('Too many signing requests');
    this.retryAfterMs = retryAfterMs;
  }
}

/** Thrown when a user has `directory.certificates.maxPerUser` certificates. */
export class TooManyCertificatesError extends CustomErrorBase {
  name = 'TooManyCertificatesError' as const;
}

/**
 * Thrown when a certificate cannot be renewed. The message is for its owner.
 */
export class RenewalRefusedError extends CustomErrorBase {
  name = 'RenewalRefusedError' as const;
}

/**
 * Thrown when an operation on an owner's certificate requires a recent
 * authentication. The message is for the caller.
 */
export class FreshProofRequiredError extends CustomErrorBase {
  name = 'FreshProofRequiredError' as const;
}

/**
 * Thrown when `directory.certificates.requirePortalToken` denies a call with a
 * Kerberos ticket. The message is for the caller.
 */
export class PortalTokenRequiredError extends CustomErrorBase {
  name = 'PortalTokenRequiredError' as const;
}
