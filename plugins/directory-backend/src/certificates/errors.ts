import { CustomErrorBase } from '@backstage/errors';
import type { RuleResult } from './signingRules';

/** A rule says no: 403 when the order is somebody else's to make, else 400. */
export class SigningRefusedError extends CustomErrorBase {
  name = 'SigningRefusedError' as const;
  readonly verdict: RuleResult;

  /** At least one of the verdicts must have failed. */
  constructor(verdicts: readonly RuleResult[]) {
    const verdict = verdicts.find(({ passed }) => passed === false)!;
    super(verdict.message);
    this.verdict = verdict;
  }
}
