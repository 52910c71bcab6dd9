import {
  REVOCABLE_REASONS,
  type RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import type { ParameterErrors } from '../request/ParameterErrors';
import { readText, type RequestParameters } from '../request/readParameters';

/** Parses the `reason` of a revocation, which is required. */
export function parseRevocation(
  parameters: RequestParameters,
  errors: ParameterErrors,
): RevocableReason {
  const given = readText(parameters, 'reason', errors);
  const reason = REVOCABLE_REASONS.find(known => known === given);
  if (!reason) {
    errors.add('reason', `Must be one of ${REVOCABLE_REASONS.join(', ')}.`);
  }
  return reason ?? REVOCABLE_REASONS[0];
}
