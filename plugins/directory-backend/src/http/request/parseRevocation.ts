import {
  REVOCABLE_REASONS,
  type RevocableReason,
} from '@directory-gateway/backstage-plugin-directory-node';
import { InvalidRequestError } from '../response/apiErrors';

/**
 * Reads why a certificate shall be revoked.
 *
 * @throws InvalidRequestError when it is no reason, or none is given.
 */
export function parseRevocation(
  parameters: ReadonlyMap<string, string>,
): RevocableReason {
  const given = parameters.get('reason');
  const reason = REVOCABLE_REASONS.find(known => known === given);
  if (!reason) {
    throw new InvalidRequestError({
      message: 'Input payload validation failed',
      errors: { reason: `Must be one of ${REVOCABLE_REASONS.join(', ')}.` },
    });
  }
  return reason;
}
