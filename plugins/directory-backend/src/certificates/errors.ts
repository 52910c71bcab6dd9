import { CustomErrorBase } from '@backstage/errors';
import { AuthorityUnavailableError } from '@directory-gateway/backstage-plugin-directory-node';
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

/**
 * Thrown when a caller may not have, renew or revoke a certificate for another
 * reason than a signing rule. The message is for the caller.
 */
export class CertificateRefusedError extends CustomErrorBase {
  name = 'CertificateRefusedError' as const;
  /** Set when the caller must authenticate again. */
  readonly reason: 'recent_sign_in_required' | undefined;

  constructor(
    message: string,
    options: { readonly reason?: 'recent_sign_in_required' } = {},
  ) {
    super(message);
    this.reason = options.reason;
  }
}

/**
 * Thrown when a CA does not find a certificate that it has issued, for example
 * on a server that lags behind.
 */
export class CertificateNotFoundError extends AuthorityUnavailableError {}
