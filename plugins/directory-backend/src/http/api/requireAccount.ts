import type { Caller } from '../../directory/Caller';
import type { Principal } from '../../directory/Principal';
import { ForbiddenError } from '../response/apiErrors';

/**
 * The directory's entry of a caller.
 *
 * @throws ForbiddenError when the caller has none.
 */
export function requireAccount({ account }: Caller): Principal {
  if (!account) {
    throw new ForbiddenError({
      message: 'You have no identity in the directory.',
    });
  }
  return account;
}
