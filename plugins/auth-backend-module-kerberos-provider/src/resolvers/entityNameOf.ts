import { KubernetesValidatorFunctions } from '@backstage/catalog-model';
import { NotFoundError } from '@backstage/errors';
import type { Principal } from '../Principal';
import { SignInRefusal } from '../SignInRefusal';

/**
 * The name of the user that a principal stands for: its own, never changed
 * into another.
 *
 * @throws NotFoundError when the realm's names are not meant, so that the next
 * resolver is asked
 * @throws SignInRefusal when no entity can have that name
 */
export function entityNameOf(options: {
  readonly principal: Principal;
  /** Realms whose names are meant. Default: all but `foreignRealms`. */
  readonly realms?: readonly string[];
  /** Realms that are accepted beside the portal's own. */
  readonly foreignRealms: readonly string[];
}): string {
  const { principal, realms, foreignRealms } = options;
  const { name, realm } = principal;
  const isMeant = realms
    ? realms.includes(realm)
    : !foreignRealms.includes(realm);
  if (!isMeant) {
    throw new NotFoundError('Names of this realm are not meant');
  }
  if (!KubernetesValidatorFunctions.isValidObjectName(name)) {
    throw new SignInRefusal('unusable_name');
  }
  return name;
}
