import { CustomErrorBase } from '@backstage/errors';
import type { RuleResult } from './signingRules';

/** A signing request failed a rule. The message is for the caller. */
export class SigningRefusedError extends CustomErrorBase {
  name = 'SigningRefusedError' as const;
  readonly failedRule: RuleResult;

  constructor(failedRule: RuleResult) {
    super(failedRule.message);
    this.failedRule = failedRule;
  }
}

/** A caller exceeded `directory.certificates.limit`. */
export class SigningLimitExceededError extends CustomErrorBase {
  name = 'SigningLimitExceededError' as const;
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('Too many signing requests');
    this.retryAfterMs = retryAfterMs;
  }
}

/** A user has `directory.certificates.maxPerUser` certificates. */
export class TooManyCertificatesError extends CustomErrorBase {
  name = 'TooManyCertificatesError' as const;
}

/** A proof of possession was refused. Says nothing about the certificate. */
export class KeyProofRefusedError extends CustomErrorBase {
  name = 'KeyProofRefusedError' as const;
}

/** A certificate cannot be renewed. The message is for its owner. */
export class RenewalRefusedError extends CustomErrorBase {
  name = 'RenewalRefusedError' as const;
}

/**
 * An operation of an owner on their certificate needs a recent authentication. The
 * message is for the caller.
 */
export class FreshProofRequiredError extends CustomErrorBase {
  name = 'FreshProofRequiredError' as const;
}

/**
 * `directory.certificates.requirePortalToken` denies a call with a Kerberos
 * ticket. The message is for the caller.
 */
export class PortalTokenRequiredError extends CustomErrorBase {
  name = 'PortalTokenRequiredError' as const;
}
